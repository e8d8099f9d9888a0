"""Which rooms a prefill engine knows, and the halves of rooms that came before the other half.

A room is one request: the request comes over HTTP, the pages for it come from decode, in either
order; and decode may have given it up before it is here.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

from runner.testbed.page_link import DecodePeer
from runner.testbed.page_messages import PagesGranted
from runner.testbed.sequence import PrefillSequence, PrefillStage

_REMEMBERED = 4096


class RoomRegister:
    """Sequences by room number; iterates over them, oldest first."""

    def __init__(self) -> None:
        self._rooms: dict[int, PrefillSequence] = {}
        self._grants: OrderedDict[int, tuple[DecodePeer, PagesGranted]] = OrderedDict()
        self._ends: OrderedDict[int, str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._rooms)

    def __iter__(self) -> Iterator[PrefillSequence]:
        return iter([*self._rooms.values()])

    def get(self, room: int) -> PrefillSequence | None:
        return self._rooms.get(room)

    def with_rid(self, rid: str) -> PrefillSequence | None:
        return next((s for s in self._rooms.values() if s.request.rid == rid), None)

    def add(self, sequence: PrefillSequence) -> None:
        self._rooms[sequence.room] = sequence

    def remove(self, sequence: PrefillSequence) -> None:
        del self._rooms[sequence.room]

    def keep_grant(self, peer: DecodePeer, grant: PagesGranted) -> None:
        """Decode was quicker than the request."""
        self._grants[grant.room] = (peer, grant)
        _forget_oldest(self._grants)

    def take_grant(self, room: int) -> tuple[DecodePeer, PagesGranted] | None:
        return self._grants.pop(room, None)

    def remember_end(self, room: int, reason: str) -> None:
        self._ends[room] = reason
        _forget_oldest(self._ends)

    def end_of(self, room: int) -> str | None:
        """Why this room failed, if it did."""
        return self._ends.get(room)

    def overdue(self, now_s: float, timeout_s: float) -> list[PrefillSequence]:
        """Those that have waited so long for decode's pages."""
        return [
            s
            for s in self._rooms.values()
            if s.stage is PrefillStage.BOOTSTRAP and now_s - s.submitted_s >= timeout_s
        ]

    def oldest_wait_s(self) -> float | None:
        """Since when the first of them waits for decode's pages."""
        waits = (s.submitted_s for s in self if s.stage is PrefillStage.BOOTSTRAP)
        return min(waits, default=None)


def _forget_oldest(kept: OrderedDict[int, Any]) -> None:
    while len(kept) > _REMEMBERED:
        kept.popitem(last=False)
