"""How long tools and people take between two requests; drawn from a seed, slept by someone else."""

import math
import random
from collections.abc import Iterator

from runner.campaign.campaign import ToolLatency

_LOGNORMAL_LIMIT = 50.0  # times the median: one draw in millions must not hold a run


def think_times_s(latency: ToolLatency | None, *, seed: int, session_index: int) -> Iterator[float]:
    """Pauses of one session in seconds, without end: after a call, after an answer, and so on.

    A person takes twice as long as a tool. None or a median of 0 gives no pauses at all.
    """
    draw = random.Random(f"think-time/{seed}/{session_index}")
    median_s = 0.0 if latency is None else latency.median_ms / 1000
    sigma = 0.0 if latency is None else latency.sigma
    while True:
        for factor in (1, 2):
            spread = min(math.exp(draw.gauss(0, sigma)), _LOGNORMAL_LIMIT)
            yield factor * median_s * spread
