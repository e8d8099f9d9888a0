"""Where a command speaks: results on standard output, everything else on standard error."""

import json
import sys
from collections.abc import Mapping
from enum import IntEnum
from typing import Any

from rich.console import Console


class ExitStatus(IntEnum):
    """What a script can read off a command."""

    FINE = 0
    SOME_FAILED = 1
    USAGE = 2
    COULD_NOT_SAY = 3
    OUR_FAULT = 4
    INTERRUPTED = 130


def say(text: str) -> None:
    """A line of the result."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def tell(text: str) -> None:
    """A line about the work, which scripts do not read."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def say_json(value: Mapping[str, Any]) -> None:
    say(json.dumps(value, ensure_ascii=False, indent=2, sort_keys=False))


def result_console() -> Console:
    """For tables: styled on a terminal, plain and unwrapped elsewhere."""
    is_terminal = sys.stdout.isatty()
    return Console(file=sys.stdout, width=None if is_terminal else 160, highlight=False)


def progress_console() -> Console:
    return Console(file=sys.stderr, highlight=False)
