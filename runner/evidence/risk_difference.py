"""Whether two factors do more together than they add up to, on the scale of rates."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

from runner.evidence.clustered_difference import effective_wilson
from runner.evidence.rates import Interval
from runner.evidence.run_rate_test import Cluster


@dataclass(frozen=True, slots=True)
class RiskDifference:
    """Rate of both minus each alone plus neither, with one-sided limits at both ends."""

    factors: tuple[str, ...]
    excess: float
    limits: Interval


def excess_over_sum(
    factors: tuple[str, ...],
    *,
    both: Sequence[Cluster],
    first: Sequence[Cluster],
    second: Sequence[Cluster],
    neither: Sequence[Cluster],
    rho: float,
    alpha: float,
) -> RiskDifference:
    """D = p11 - p10 - p01 + p00, D -+ the root of the squared distances to the Wilson limits.

    The square-and-add of Newcombe (1998) with four rates, each of its effective sessions. Without
    a cell for `neither` its rate counts as 0, which is the least it can be.
    """
    signed = [(1, both), (-1, first), (-1, second)] + ([(1, neither)] if neither else [])
    excess, below, above = 0.0, 0.0, 0.0
    for sign, clusters in signed:
        rate, low, high = effective_wilson(clusters, rho=rho, confidence=1 - 2 * alpha)
        down, up = (rate - low, high - rate) if sign > 0 else (high - rate, rate - low)
        excess += sign * rate
        below, above = hypot(below, down), hypot(above, up)
    return RiskDifference(factors, excess, Interval(excess - below, excess + above))
