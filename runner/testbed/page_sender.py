"""The prefill side's hand-over of computed pages: writes into a decode instance's pool.

It knows when pages are written and when they never are; it does not know requests. Two faults live
here: from a given transfer on, none is ever carried out; and every so many-th one is slow.
"""

from __future__ import annotations

from dataclasses import dataclass

from runner.testbed.index_audit import page_sums
from runner.testbed.kv_pool import NOBODY, PagePool
from runner.testbed.launch_options import TransferFaults
from runner.testbed.page_messages import KVPoll, PagesGranted


@dataclass(slots=True)
class Sending:
    """One request's pages on their way.

    `due_s` says when they are there, None: never; `is_slow`: until then they are being written.
    `index_sums`: what the sender's index-key pages were when they were written, for the audit.
    """

    grant: PagesGranted
    target: PagePool
    source_pages: list[int]
    due_s: float | None = None
    is_slow: bool = False
    state: KVPoll = KVPoll.WAITING_FOR_INPUT
    index_sums: tuple[int, ...] = ()


class PageSender:
    """Writes pages, as they are at that moment, when `poll` is called after `submit`.

    `sums_pages`: note checksums of what was written.
    """

    def __init__(
        self, source: PagePool, faults: TransferFaults, *, sums_pages: bool = True
    ) -> None:
        self._source = source
        self._sums_pages = sums_pages
        self._faults = faults
        self._submitted = 0
        self._open: dict[int, Sending] = {}
        self._late_writes = 0

    def __len__(self) -> int:
        return len(self._open)

    def submit(self, sending: Sending, *, now_s: float) -> None:
        faults = self._faults
        index, self._submitted = self._submitted, self._submitted + 1
        if faults.stall_after is None or index < faults.stall_after:
            every = faults.slow_every
            sending.is_slow = every is not None and (index + 1) % every == 0
            sending.due_s = now_s + (faults.slow_s if sending.is_slow else 0.0)
        self._open[sending.grant.room] = sending

    def poll(self, now_s: float) -> list[Sending]:
        """Carry out what is due; returned and forgotten."""
        ended = [each for each in self._open.values() if _is_due(each, now_s)]
        for sending in ended:
            self._write(sending)
            del self._open[sending.grant.room]
        return ended

    def next_deadline_s(self) -> float | None:
        """When the next slow transfer is due, if one is under way."""
        return min((s.due_s for s in self._open.values() if s.due_s is not None), default=None)

    def abort(self, room: int) -> bool:
        """Do not begin with this room; False if its pages are being written right now."""
        sending = self._open.get(room)
        if sending is not None and sending.is_slow:
            return False
        self._open.pop(room, None)
        return True

    def abandon(self, room: int) -> None:
        """The room's pages are gone: there is nothing to write to."""
        self._open.pop(room, None)

    def take_late_writes(self) -> int:
        """How many since the last call went to a slot that had another owner by then."""
        count, self._late_writes = self._late_writes, 0
        return count

    def _write(self, sending: Sending) -> None:
        grant, target = sending.grant, sending.target
        sending.state = KVPoll.TRANSFERRING
        self._late_writes += int(target.owners[grant.slot]) not in (grant.room, NOBODY)
        n_kv, n_index = len(grant.kv_pages), len(grant.index_pages)
        if self._sums_pages:
            sums = page_sums(self._source.index[:, sending.source_pages])  # (L, P)
            sending.index_sums = tuple(sums.flatten().tolist())
        target.copy_kv(self._source, sending.source_pages[:n_kv], grant.kv_pages)
        target.copy_index(self._source, sending.source_pages[:n_index], grant.index_pages)
        sending.state = KVPoll.SUCCESS


def _is_due(sending: Sending, now_s: float) -> bool:
    return sending.due_s is not None and sending.due_s <= now_s
