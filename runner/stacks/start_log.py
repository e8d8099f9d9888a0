"""What a service has written since its start, as far as a proof needs it."""

import asyncio
import os
import re
from collections.abc import Collection
from pathlib import Path

from db.clock import Clock
from runner.observe.log_envelopes import ANSI, unwrap
from runner.observe.log_follower import LogSource

MOST_BYTES = 8 * 1024 * 1024
LINES_DEADLINE_S = 10.0
_TAIL_BYTES = 64 * 1024
_POLL_S = 0.1
_ANY_YEAR = 2000  # only the text of a line is of interest here


def last_lines(path: Path, lines: int) -> list[str]:
    """Of a log file, without colours; of its last kibibytes where it is long. Raises OSError."""
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
        text = file.read(_TAIL_BYTES).decode("utf-8", errors="replace")
    return ANSI.sub("", text).splitlines()[-lines:]


class StartLog:
    """Made before the service begins. It keeps the first mebibytes, which tell of the start."""

    def __init__(self, source: LogSource) -> None:
        self._source = source
        self._read = bytearray()

    async def lines(
        self, patterns: Collection[str], *, clock: Clock, within_s: float = LINES_DEADLINE_S
    ) -> str:
        """All lines so far, once each pattern has one, or the time is over.

        A log comes after what it tells of: over ssh by as much as a second.
        """
        wanted = [re.compile(pattern) for pattern in patterns]
        ends_s = clock.monotonic_s() + within_s
        while True:
            text = self._text()
            if all(pattern.search(text) for pattern in wanted):
                return text
            if clock.monotonic_s() >= ends_s:
                return text
            await asyncio.sleep(_POLL_S)

    def tail(self, lines: int) -> list[str]:
        """The last lines so far, as they are told where a start fails."""
        return self._text().splitlines()[-lines:]

    def close(self) -> None:
        """What was read stays; nothing more is."""
        self._source.close()

    def _text(self) -> str:
        while len(self._read) < MOST_BYTES and (piece := self._source.read_new()):
            self._read += piece
        lines = self._read.decode("utf-8", errors="replace").splitlines()
        return "\n".join(unwrap(line, year=_ANY_YEAR).text for line in lines)
