"""Where the programs of a test wait for one another."""

import sys


def say(line: object) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def wait_for_the_others() -> None:
    say("ready")
    sys.stdin.readline()
