"""Tokens per second between two readings of a clock."""

from __future__ import annotations

from collections.abc import Callable


class Throughput:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._since_s = clock()
        self._counted = 0
        self.last = 0.0

    def count(self, n_tokens: int) -> None:
        self._counted += n_tokens

    def since_last(self, n_tokens: int = 0) -> float:
        """The rate since the previous call, `n_tokens` more included; 0 if no time has passed."""
        now_s = self._clock()
        elapsed_s = now_s - self._since_s
        self.last = (self._counted + n_tokens) / elapsed_s if elapsed_s > 0 else 0.0
        self._since_s, self._counted = now_s, 0
        return self.last
