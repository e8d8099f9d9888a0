"""Ends a wait at the first deadline that has passed; what the deadlines are, someone else says."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

from db.vocabulary import ErrorReason


class Deadline(NamedTuple):
    """A moment of the event loop's clock, and what it means to reach it."""

    at: float
    reason: ErrorReason | None


_LATE_S = 0.5
_GRACE_S = 0.1


class DeadlineWatch:
    """Asks `next_deadline` only when the one it knew has passed, so that progress costs nothing.

    A look that comes late is our own fault (the loop was held up, the process stopped): what the
    server sent meanwhile is read first, for a moment, once; that may mean further looks.
    """

    def __init__(self, next_deadline: Callable[[], Deadline], timer: asyncio.Timeout) -> None:
        self._next_deadline = next_deadline
        self._timer = timer
        self._loop = asyncio.get_running_loop()
        self._handle: asyncio.TimerHandle | None = None
        self._grace_ends_at: float | None = None
        self.missed: Deadline | None = None

    def look(self) -> None:
        """Read the deadlines anew: needed where one may have come nearer."""
        deadline = self._next_deadline()  # which may look itself
        self.stop()
        now = self._loop.time()
        if self._grace_ends_at is None and now - deadline.at > _LATE_S:
            self._grace_ends_at = now + _GRACE_S
        due_at = max(deadline.at, self._grace_ends_at or deadline.at)
        if now < due_at:
            self._handle = self._loop.call_at(due_at, self.look)
        else:
            self.missed = deadline
            self._timer.reschedule(now)

    def stop(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None


@asynccontextmanager
async def watched(next_deadline: Callable[[], Deadline]) -> AsyncIterator[DeadlineWatch]:
    """Cancels its body at the deadline.

    Raises:
        TimeoutError: the deadline in `missed` has passed.
    """
    async with asyncio.timeout(None) as timer:
        watch = DeadlineWatch(next_deadline, timer)
        watch.look()
        try:
            yield watch
        finally:
            watch.stop()
