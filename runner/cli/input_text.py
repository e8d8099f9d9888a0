"""Reads a file that a command was given as text; knows nothing of what is in it."""

import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path
from typing import Final

from runner.cli.interruption import ended_by_interrupts
from runner.errors import UsageError

MOST_BYTES: Final = 512 * 2**20
"""More than any result file; a device never ends."""


def read_input(file: Path, *, errors: str = "strict", most_bytes: int = MOST_BYTES) -> str:
    """UTF-8, or what its byte order mark says; `-` is standard input. `errors` as of bytes.decode.

    Raises UsageError.
    """
    try:
        with ended_by_interrupts():
            content = _content_of(file, most_bytes)
        return content.decode(_encoding_of(content), errors)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        what = f"{error.reason} at byte {error.start}"
        raise UsageError(f"{file} is not {error.encoding.upper()} ({what})") from error


def _content_of(file: Path, most_bytes: int) -> bytes:
    if str(file) == "-":
        content = sys.stdin.buffer.read(most_bytes + 1)
    else:
        with file.open("rb") as opened:
            content = opened.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise UsageError(
            f"{file} holds more than {most_bytes:,} bytes, which is more than is read: "
            "give a part of it"
        )
    return content


def _encoding_of(content: bytes) -> str:
    """Shells of Windows redirect in UTF-16, with a mark."""
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "utf-16"
    return "utf-8-sig"
