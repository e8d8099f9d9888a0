"""An interval for one rate that may be watched while sessions end; progress, never a decision.

The sessions are taken as independent, which those of one run are not.
"""

from collections.abc import Callable
from math import exp, log

from scipy.special import betaln, xlog1py, xlogy

from runner.evidence.rates import CONFIDENCE, Interval
from runner.evidence.root_finding import root_between


def beta_mixture_sequence(
    corrupt: int, sessions: int, *, a: float = 0.5, b: float = 0.5, confidence: float = CONFIDENCE
) -> Interval:
    """All rates p with B(a + x, b + n - x) / B(a, b) / (p^x (1 - p)^(n - x)) < 1 / alpha.

    Covers the rate at all times at once (Robbins, Ann. Math. Statistics 41, 1970). Of no sessions
    it is [0, 1].
    """
    if sessions == 0:
        return Interval(0.0, 1.0)
    clean = sessions - corrupt
    mixture = float(betaln(a + corrupt, b + clean) - betaln(a, b))
    bar = mixture + log(1 - confidence)

    def inside(rate: float) -> float:
        return float(xlogy(corrupt, rate) + xlog1py(clean, -rate)) - bar

    peak = corrupt / sessions
    low = 0.0 if corrupt == 0 else _edge(inside, peak, 0.0)
    return Interval(low, 1.0 if clean == 0 else _edge(inside, peak, 1.0))


def _edge(inside: Callable[[float], float], peak: float, end: float) -> float:
    """Where the likelihood has fallen to the bar, between the peak and an end where it is 0."""
    gap = 1.0
    while inside(end + (peak - end) * exp(-gap)) > 0.0:
        gap *= 2
    outside = end + (peak - end) * exp(-gap)
    return root_between(inside, outside, peak)
