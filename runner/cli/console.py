"""Where a command speaks: results on standard output, everything else on standard error.

What servers and logs say is repeated here: no control character of theirs reaches a terminal.
"""

import errno
import json
import os
import sys
from collections.abc import Mapping
from enum import IntEnum
from io import TextIOBase
from typing import Any, TextIO, cast

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.segment import Segment

from runner.report.visible_text import visible, visible_json


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
    _write(sys.stdout, visible(text))


def tell(text: str) -> None:
    """A line about the work, which scripts do not read."""
    _write(sys.stderr, visible(text))


def say_json(value: Mapping[str, Any]) -> None:
    document = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=False)
    _write(sys.stdout, visible_json(document))


# A reader that has gone, a terminal that was closed: nobody listens any more, and nothing is lost.
_NOBODY_LISTENS = frozenset({errno.EPIPE, errno.EIO, errno.ECONNRESET, errno.ENXIO})
_lost: list[OSError] = []


def lost_result() -> str | None:
    """Why a part of the result could not be written, or None: such a command has not succeeded."""
    return f"the result could not be written: {_lost[0].strerror}" if _lost else None


def _write(stream: TextIO, text: str) -> None:
    """Ends no work, whatever becomes of the stream; `lost_result` tells of what was not written."""
    try:
        stream.write(f"{text}\n")
        stream.flush()
    except OSError as error:
        _give_up(stream, error)


def _give_up(stream: TextIO, error: OSError) -> None:
    """What is left in the buffer, and what still comes, goes nowhere."""
    if stream is sys.stdout and error.errno not in _NOBODY_LISTENS:
        _lost.append(error)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, stream.fileno())
    finally:
        os.close(nowhere)


def result_console() -> Console:
    """For tables: styled on a terminal, plain and unwrapped elsewhere."""
    is_terminal = sys.stdout.isatty()
    console = Console(
        file=_lasting(sys.stdout), width=None if is_terminal else 160, highlight=False
    )
    console.push_render_hook(_OnlyVisible())
    return console


def progress_console() -> Console:
    console = Console(file=_lasting(sys.stderr), highlight=False)
    console.push_render_hook(_OnlyVisible())
    return console


class _OnlyVisible(RenderHook):
    """Names the control characters in the texts of what is drawn; the styles are ours."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Visible(each) for each in renderables]


class _Visible:
    def __init__(self, drawn: ConsoleRenderable) -> None:
        self._drawn = drawn

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for segment in console.render(self._drawn, options):
            shown = segment.text if segment.control else visible(segment.text)
            yield Segment(shown, segment.style, segment.control)


class _LastingStream(TextIOBase):
    """A stream that goes on when its reader has gone or its terminal was closed."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def isatty(self) -> bool:
        return not self._stream.closed and self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError as error:
            _give_up(self._stream, error)
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError as error:
            _give_up(self._stream, error)


def _lasting(stream: TextIO) -> TextIO:
    return cast(TextIO, _LastingStream(stream))
