"""The engine's own time: microseconds that pass with the work that is done, never by themselves.

Load-backs are timed by it, so that a run is the same on a fast and on a slow machine. The costs are
settings of a model of a GPU, not measurements of one.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StepCosts:
    """What a step takes. `schedule_us`: from the start of a load-back to the forward pass."""

    schedule_us: float = 1200.0
    layer_us: float = 1200.0
    token_us: float = 2.0
    decode_us: float = 9000.0

    def layer(self, n_tokens: int) -> float:
        """One layer of a prefill of `n_tokens` new tokens."""
        return self.layer_us + self.token_us * n_tokens


class WorkClock:
    """Starts at 0."""

    def __init__(self) -> None:
        self.now_us = 0.0

    def spend(self, us: float) -> None:
        self.now_us += us

    def wait_until(self, at_us: float) -> None:
        self.now_us = max(self.now_us, at_us)
