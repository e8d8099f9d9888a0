"""Does the first arm have the lower rate? The test that takes the run as its unit.

Each run is one number, its rate on the arcsine scale, so that correlation inside a run is part of
what is measured; knows nothing of silent sessions.
"""

from collections.abc import Sequence
from math import asin, sqrt
from typing import NamedTuple

from scipy.special import stdtr

_NO_VARIANCE = 1e-20


class Cluster(NamedTuple):
    """Sessions that shared a launch: `k` of `n` have what is counted."""

    k: int
    n: int


def run_rate_less(first: Sequence[Cluster], second: Sequence[Cluster]) -> float:
    """One-sided p-value of Student's test with pooled variance on the arcsine run rates.

    Needs two runs with sessions in each arm, else ValueError. Where all runs of both arms agree
    within themselves there is no variance to compare with: 0, 1 or 1/2 by the order of the means.
    """
    a, b = _scaled_rates(first), _scaled_rates(second)
    if len(a) < 2 or len(b) < 2:
        raise ValueError("run rates are compared from two runs an arm on")
    gap = sum(a) / len(a) - sum(b) / len(b)
    freedom = len(a) + len(b) - 2
    variance = (_squares(a) + _squares(b)) / freedom
    if variance < _NO_VARIANCE:
        return 0.5 if gap * gap < _NO_VARIANCE else float(gap > 0)
    return float(stdtr(freedom, gap / sqrt(variance * (1 / len(a) + 1 / len(b)))))


def run_rates_vary(first: Sequence[Cluster], second: Sequence[Cluster]) -> bool:
    """Whether there is any variance between the runs of an arm to compare with."""
    a, b = _scaled_rates(first), _scaled_rates(second)
    return _squares(a) + _squares(b) >= _NO_VARIANCE * (len(a) + len(b) - 2)


def arcsine_rate(k: int, n: int) -> float:
    """The variance-stabilised rate of Anscombe (Biometrika 35, 1948), in radians."""
    return asin(sqrt((k + 0.375) / (n + 0.75)))


def _scaled_rates(clusters: Sequence[Cluster]) -> list[float]:
    return [arcsine_rate(cluster.k, cluster.n) for cluster in clusters if cluster.n > 0]


def _squares(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values)
