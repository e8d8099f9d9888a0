"""Reads a file that a command was given as text; knows nothing of what is in it."""

import sys
from pathlib import Path

from runner.errors import UsageError


def read_input(file: Path, *, errors: str = "strict") -> str:
    """UTF-8; `-` is standard input. `errors` as of bytes.decode. Raises UsageError."""
    try:
        content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return content.decode("utf-8", errors)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is not UTF-8 ({error.reason} at byte {error.start})") from error
