"""When sessions arrive in an open loop; drawn from a seed, waited for by someone else."""

import random
from collections.abc import Iterator


def poisson_arrivals_s(rate_per_s: float, *, seed: int) -> Iterator[float]:
    """Ascending seconds since the start, without end; the gaps are exponential."""
    draw = random.Random(f"arrivals/{seed}")
    at_s = 0.0
    while True:
        at_s += draw.expovariate(rate_per_s)
        yield at_s
