"""The interval shown beside a difference of two arms, as wide as correlated sessions make it.

Each arm counts as many independent sessions as its design effect leaves (Rao & Scott, Biometrics
48, 1992), and the Wilson limits of those are squared and added as Newcombe does.
"""

from collections.abc import Sequence
from math import hypot, sqrt

from scipy.special import ndtri

from runner.evidence.rates import CONFIDENCE, Interval
from runner.evidence.run_rate_test import Cluster
from runner.evidence.session_correlation import design_effect


def clustered_difference(
    first: Sequence[Cluster],
    second: Sequence[Cluster],
    *,
    rho: float,
    confidence: float = CONFIDENCE,
) -> Interval:
    """First minus second. Raises ValueError for an arm without sessions."""
    p1, low1, high1 = effective_wilson(first, rho=rho, confidence=confidence)
    p2, low2, high2 = effective_wilson(second, rho=rho, confidence=confidence)
    low = p1 - p2 - hypot(p1 - low1, high2 - p2)
    high = p1 - p2 + hypot(high1 - p1, p2 - low2)
    return Interval(max(-1.0, low), min(1.0, high))


def effective_sessions(clusters: Sequence[Cluster], *, rho: float) -> float:
    """How many independent sessions would say as much about the rate."""
    total = sum(c.n for c in clusters)
    if total == 0:
        raise ValueError("an arm without sessions has no rate")
    mean_size = sum(c.n**2 for c in clusters) / total  # of the run of a random session
    return total / design_effect(mean_size, rho)


def effective_wilson(
    clusters: Sequence[Cluster], *, rho: float, confidence: float = CONFIDENCE
) -> tuple[float, float, float]:
    """The rate and its Wilson limits, of the effective sessions."""
    n = effective_sessions(clusters, rho=rho)
    p = sum(c.k for c in clusters) / sum(c.n for c in clusters)
    z = -float(ndtri((1 - confidence) / 2))
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return p, max(0.0, centre - half) if p > 0 else 0.0, min(1.0, centre + half) if p < 1 else 1.0
