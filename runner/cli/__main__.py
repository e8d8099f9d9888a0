"""Where `decisive` begins: what has to be right before the first import of a library.

A Ctrl-C while libraries are read ends the process as the signal does by default: some of them make
an ImportError of an interruption. A standard stream that was closed is opened on nothing, or the
next file would get its number, and what is printed would be written into the store.
"""

import os
import sys
from pathlib import Path
from typing import TextIO

from runner.cli.interruption import ended_by_interrupts


def main() -> None:
    _open_closed_streams()
    with ended_by_interrupts():
        from runner.cli.main import main as command_line
    command_line()


def _open_closed_streams() -> None:
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    sys.stdin = sys.stdin or _nothing("r")
    sys.stdout = sys.stdout or _nothing("w")
    sys.stderr = sys.stderr or _nothing("w")


def _nothing(mode: str) -> TextIO:
    return Path(os.devnull).open(mode, encoding="utf-8")  # type: ignore[return-value]


if __name__ == "__main__":
    main()
