"""Sees to it that reads which were put off are parsed soon, some connections at a time."""

import asyncio
from typing import Final, Protocol

PARSED_WITHIN_S: Final = 1.0
_AT_ONCE: Final = 16  # connections: about a millisecond, then others are read again


class Behind(Protocol):
    """Somebody who has put work off."""

    def catch_up(self) -> None: ...


class ParseSweep:
    """One timer for all connections, started by the first that falls behind."""

    def __init__(self) -> None:
        self._behind: dict[Behind, None] = {}
        self._is_due = False

    def add(self, behind: Behind) -> None:
        self._behind[behind] = None
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_later(PARSED_WITHIN_S, self._begin)

    def _begin(self) -> None:
        self._is_due = False
        behind, self._behind = list(self._behind), {}
        self._go_on(behind)

    def _go_on(self, behind: list[Behind]) -> None:
        for connection in behind[:_AT_ONCE]:
            connection.catch_up()
        if len(behind) > _AT_ONCE:
            asyncio.get_running_loop().call_soon(self._go_on, behind[_AT_ONCE:])
