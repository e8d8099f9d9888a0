"""The hand-over of pages from the prefill pool to the decode pool, with SGLang's transfer states.

It knows when pages are copied and when a transfer has failed; it does not know requests. The wedge
fault lives here: from a given transfer on, the done signal never comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from runner.testbed import log_lines
from runner.testbed.kv_pool import PagePool


class KVPoll(IntEnum):
    """SGLang's states of a transfer, with its numbers."""

    FAILED = 0
    BOOTSTRAPPING = 1
    WAITING_FOR_INPUT = 2
    TRANSFERRING = 3
    SUCCESS = 4


@dataclass(slots=True)
class PageTransfer:
    """One request's pages on their way; `failure` says why a FAILED one failed."""

    room: int
    source_pages: list[int]
    target_pages: list[int]
    submitted_s: float
    stalled: bool = False
    state: KVPoll = KVPoll.WAITING_FOR_INPUT
    failure: str | None = None


class TransferQueue:
    """Copies pages, as they are at that moment, when `poll` is called after `submit`.

    `stall_after`: the first so many transfers go through, every later one stays in
    WAITING_FOR_INPUT until it has waited `timeout_s`. None: no fault.
    """

    def __init__(
        self, source: PagePool, target: PagePool, *, stall_after: int | None, timeout_s: float
    ) -> None:
        self._source = source
        self._target = target
        self._stall_after = stall_after
        self._timeout_s = timeout_s
        self._submitted = 0
        self._open: dict[int, PageTransfer] = {}

    def __len__(self) -> int:
        return len(self._open)

    def submit(self, transfer: PageTransfer) -> None:
        transfer.stalled = self._stall_after is not None and self._submitted >= self._stall_after
        self._submitted += 1
        self._open[transfer.room] = transfer

    def poll(self, now_s: float) -> list[PageTransfer]:
        """Move every transfer on; those that ended, well or badly, are returned and forgotten."""
        ended = [transfer for transfer in self._open.values() if self._advance(transfer, now_s)]
        for transfer in ended:
            del self._open[transfer.room]
        return ended

    def next_deadline_s(self) -> float | None:
        """When the oldest waiting transfer will fail; None if none is open."""
        started = [transfer.submitted_s for transfer in self._open.values()]
        return min(started) + self._timeout_s if started else None

    def abort(self, room: int) -> None:
        """Forget a transfer whose request is gone; nothing of it is copied any more."""
        self._open.pop(room, None)

    def _advance(self, transfer: PageTransfer, now_s: float) -> bool:
        if not transfer.stalled:
            transfer.state = KVPoll.TRANSFERRING
            self._target.copy_pages(self._source, transfer.source_pages, transfer.target_pages)
            transfer.state = KVPoll.SUCCESS
        elif now_s - transfer.submitted_s >= self._timeout_s:
            transfer.state = KVPoll.FAILED
            transfer.failure = log_lines.waiting_timeout(transfer.room, self._timeout_s)
        return transfer.state in (KVPoll.SUCCESS, KVPoll.FAILED)
