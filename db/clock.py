"""What time it is. Whoever needs to know is given a clock, so that tests can bring their own."""

import time
from typing import Protocol


class Clock(Protocol):
    def utc_us(self) -> int:
        """UTC microseconds since the epoch: for moments that are stored."""
        ...

    def monotonic_s(self) -> float:
        """Seconds from an arbitrary start that never run backwards: for durations."""
        ...


class SystemClock:
    """The clock of this machine."""

    def utc_us(self) -> int:
        return time.time_ns() // 1_000

    def monotonic_s(self) -> float:
        return time.monotonic()
