"""Entry point of `python -m runner.testbed`."""

import sys

from runner.testbed.command_line import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
