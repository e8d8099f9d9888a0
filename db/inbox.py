"""A bounded waiting line between many givers and one taker, who takes several things at once.

It knows weights and time, and nothing of what is in it.
"""

import time
from collections import deque
from dataclasses import dataclass
from threading import Condition
from typing import Generic, TypeVar

T = TypeVar("T")


class InboxClosedError(Exception):
    """Nothing can be put in any more."""


class InboxFullError(Exception):
    """No room was made in the time that its giver had."""


@dataclass(frozen=True, slots=True)
class _Entry(Generic[T]):
    item: T
    weight: int
    arrived_s: float


class Inbox(Generic[T]):
    """Holds items up to a total weight; a single item of any weight fits when it is empty."""

    def __init__(
        self,
        *,
        capacity: int,
        linger_s: float,
        patience_s: float,
        company: int | None = None,
        quiet_s: float | None = None,
    ) -> None:
        """`linger_s`: how long the first item of a batch waits for others, `company`: how many it
        is enough to have with it, and `quiet_s`: after how long without another it waits no more;
        `patience_s`: how long a giver waits for room.
        """
        self._capacity = capacity
        self._company = company
        self._quiet_s = linger_s if quiet_s is None else quiet_s
        self._patience_s = patience_s
        self._linger_s = linger_s
        self._entries: deque[_Entry[T]] = deque()
        self._weight = 0
        self._hurry = False
        self._closed = False
        self._changed = Condition()

    def offer(self, item: T, *, weight: int = 1) -> bool:
        """Put `item` in if there is room now. Raises InboxClosedError."""
        with self._changed:
            self._refuse_if_closed()
            if not self._has_room(weight):
                return False
            self._append(item, weight)
            return True

    def put(self, item: T, *, weight: int = 1) -> None:
        """Put `item` in, waiting for room. Raises InboxClosedError, InboxFullError."""
        with self._changed:
            if not self._changed.wait_for(
                lambda: self._closed or self._has_room(weight), timeout=self._patience_s
            ):
                raise InboxFullError
            self._refuse_if_closed()
            self._append(item, weight)

    def put_urgent(self, item: T) -> None:
        """Put `item` in whether or not there is room, and end the lingering of this batch."""
        with self._changed:
            self._refuse_if_closed()
            self._hurry = True
            self._append(item, 0)

    def take(self) -> list[T]:
        """All that is there, once the first has lingered; empty when closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or bool(self._entries))
            while (left_s := self._lingering_s()) > 0:
                self._changed.wait(left_s)
            items = [entry.item for entry in self._entries]
            self._entries.clear()
            self._weight = 0
            self._hurry = False
            self._changed.notify_all()
            return items

    def close(self) -> None:
        """Take no more; what is in can still be taken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _lingering_s(self) -> float:
        if self._closed or self._hurry or self._is_enough():
            return 0.0
        first, last = self._entries[0], self._entries[-1]
        until_s = min(first.arrived_s + self._linger_s, last.arrived_s + self._quiet_s)
        return until_s - time.monotonic()

    def _is_enough(self) -> bool:
        if self._weight >= self._capacity:
            return True
        return self._company is not None and len(self._entries) >= self._company

    def _has_room(self, weight: int) -> bool:
        return not self._entries or self._weight + weight <= self._capacity

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise InboxClosedError

    def _append(self, item: T, weight: int) -> None:
        self._entries.append(_Entry(item, weight, time.monotonic()))
        self._weight += weight
        # A taker that lingers need not hear of each: waking a thread costs as much as storing.
        if len(self._entries) == 1 or self._hurry or self._is_enough():
            self._changed.notify_all()
