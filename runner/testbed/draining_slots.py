"""Decode slots whose request is gone while prefill may still write into them.

Deferred release keeps such a slot until prefill says that it is done with it. Immediate release is
a fault: the slot gets its next owner at once, and a write that was under way lands in its pages.
"""

from __future__ import annotations

from collections.abc import Callable

_DRAIN_TIMEOUT_S = 30.0


class DrainingSlots:
    """`free` gives a slot back. `release`: `deferred` or `immediate`."""

    def __init__(self, release: str, free: Callable[[int], None]) -> None:
        self._is_deferred = release == "deferred"
        self._free = free
        self._slots: dict[int, tuple[int, float]] = {}
        self.timeout_s = _DRAIN_TIMEOUT_S

    def __len__(self) -> int:
        return len(self._slots)

    def add(self, room: int, slot: int, *, now_s: float) -> None:
        if self._is_deferred:
            self._slots[room] = (slot, now_s)
        else:
            self._free(slot)

    def drained(self, room: int) -> None:
        """Prefill writes nothing more to this room's pages."""
        if room in self._slots:
            self._free(self._slots.pop(room)[0])

    def expire(self, now_s: float) -> list[int]:
        """Free the slots that prefill has not spoken of for too long; returns their rooms."""
        overdue = [
            room for room, (_, at_s) in self._slots.items() if now_s - at_s >= self.timeout_s
        ]
        for room in overdue:
            self.drained(room)
        return overdue

    def free_all(self) -> None:
        """Nobody is left who could write into them."""
        for room in [*self._slots]:
            self.drained(room)

    def next_deadline_s(self) -> float | None:
        return min((at_s + self.timeout_s for _, at_s in self._slots.values()), default=None)
