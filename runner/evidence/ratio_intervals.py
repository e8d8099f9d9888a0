"""Two-sided intervals for the ratio of two rates, first over second; secondary to differences.

A ratio has no upper limit where the second arm saw nothing, and says little about elimination.
"""

from collections.abc import Callable
from math import exp, inf, log, sqrt

from scipy.special import ndtri

from runner.evidence.rates import CONFIDENCE, Interval, Rate
from runner.evidence.root_finding import root_between

_PRECISION = 1e-14


def katz_ratio(first: Rate, second: Rate, *, confidence: float = CONFIDENCE) -> Interval | None:
    """On the log scale (Katz et al., Biometrics 34, 1978); None where a count is zero."""
    (x1, n1), (x2, n2) = (first.count, first.of), (second.count, second.of)
    if x1 == 0 or x2 == 0:
        return None
    ratio = first.value / second.value
    half = _quantile(confidence) * sqrt(1 / x1 - 1 / n1 + 1 / x2 - 1 / n2)
    return Interval(ratio * exp(-half), ratio * exp(half))


def koopman_ratio(first: Rate, second: Rate, *, confidence: float = CONFIDENCE) -> Interval:
    """Score interval (Koopman, Biometrics 40:513, 1984).

    From 0 where the first arm saw nothing, to infinity where the second did not.
    """
    z = _quantile(confidence)

    def excess(log_ratio: float) -> float:
        return _score(first, second, exp(log_ratio)) - z

    centre = log(max(first.count, 0.5) / first.of) - log(max(second.count, 0.5) / second.of)
    low = 0.0 if first.count == 0 else exp(_crossing(excess, centre, step=-1.0))
    high = inf if second.count == 0 else exp(_crossing(excess, centre, step=1.0))
    return Interval(low, high)


def _score(first: Rate, second: Rate, ratio: float) -> float:
    """Distance of p1 from ratio * p2, in standard errors at the most likely rates with p1 = R p2.

    These solve a quadratic (Koopman 1984; Nam, Biometrics 51, 1995).
    """
    (x1, n1), (x2, n2) = (first.count, first.of), (second.count, second.of)
    linear = n1 * ratio + x1 + n2 + x2 * ratio
    root = sqrt(max(0.0, linear**2 - 4 * (n1 + n2) * ratio * (x1 + x2)))
    p2 = min(1.0, 1.0 / ratio, 2 * (x1 + x2) / (linear + root))
    p1 = min(1.0, ratio * p2)
    variance = p1 * (1 - p1) / n1 + ratio**2 * p2 * (1 - p2) / n2
    gap = abs(first.value - ratio * second.value)
    if variance <= 0.0:
        return inf if gap > 0.0 else 0.0
    return gap / sqrt(variance)


def _crossing(excess: Callable[[float], float], centre: float, *, step: float) -> float:
    """Where `excess` turns positive on the way out from the centre."""
    inside = centre
    while excess(inside) > 0.0:
        inside -= step
    outside = inside + step
    while excess(outside) <= 0.0:
        inside, outside = outside, outside + step
    return root_between(excess, inside, outside, precision=_PRECISION)


def _quantile(confidence: float) -> float:
    return -float(ndtri((1 - confidence) / 2))
