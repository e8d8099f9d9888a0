"""Two-sided intervals for the difference of two rates, first minus second; sessions independent.

Newcombe's is the one shown; Miettinen-Nurminen and Mee are the score intervals with and without
the factor N / (N - 1), after which many tables of the literature were printed.
"""

from collections.abc import Callable
from math import acos, copysign, cos, hypot, pi, sqrt

from scipy.special import ndtri

from runner.evidence.rates import CONFIDENCE, Interval, Rate
from runner.evidence.root_finding import root_between

_PRECISION = 1e-14
_BESIDE = 1e-12


def newcombe_difference(first: Rate, second: Rate, *, confidence: float = CONFIDENCE) -> Interval:
    """Square-and-add of Wilson limits (Newcombe, Statistics in Medicine 17:873, 1998, no. 10)."""
    low1, high1 = first.wilson(confidence)
    low2, high2 = second.wilson(confidence)
    p1, p2 = first.value, second.value
    low = p1 - p2 - hypot(p1 - low1, high2 - p2)
    return Interval(max(-1.0, low), min(1.0, p1 - p2 + hypot(high1 - p1, p2 - low2)))


def agresti_caffo_difference(
    first: Rate, second: Rate, *, confidence: float = CONFIDENCE
) -> Interval:
    """Wald after one success and one failure more in each arm, cut to [-1, 1].

    Agresti & Caffo, The American Statistician 54 (2000).
    """
    p1, p2 = (first.count + 1) / (first.of + 2), (second.count + 1) / (second.of + 2)
    variance = p1 * (1 - p1) / (first.of + 2) + p2 * (1 - p2) / (second.of + 2)
    half = _quantile(confidence) * sqrt(variance)
    return Interval(max(-1.0, p1 - p2 - half), min(1.0, p1 - p2 + half))


def miettinen_nurminen_difference(
    first: Rate, second: Rate, *, confidence: float = CONFIDENCE
) -> Interval:
    """Score interval, variance times N / (N - 1).

    Miettinen & Nurminen, Statistics in Medicine 4:213 (1985).
    """
    total = first.of + second.of
    return _score_limits(first, second, confidence=confidence, factor=total / (total - 1))


def mee_difference(first: Rate, second: Rate, *, confidence: float = CONFIDENCE) -> Interval:
    """Score interval without that factor (Mee, Biometrics 40:1175, 1984)."""
    return _score_limits(first, second, confidence=confidence, factor=1.0)


def _score_limits(first: Rate, second: Rate, *, confidence: float, factor: float) -> Interval:
    z = _quantile(confidence)
    difference = first.value - second.value

    def excess(delta: float) -> float:
        variance = _restricted_variance(first, second, delta)
        return abs(difference - delta) - z * sqrt(variance * factor)

    return Interval(_outward(excess, difference, -1.0), _outward(excess, difference, 1.0))


def _outward(excess: Callable[[float], float], start: float, end: float) -> float:
    """Where `excess` turns positive on the way from `start` to `end`; `end` if it does not.

    It starts beside the estimate, where it is zero without meaning anything.
    """
    beside = start + (end - start) * _BESIDE
    if start == end or excess(end) <= 0.0:
        return end
    if excess(beside) >= 0.0:
        return start
    return root_between(excess, beside, end, precision=_PRECISION)


def _restricted_variance(first: Rate, second: Rate, delta: float) -> float:
    """Of p1 - p2 at the most likely rates with p1 - p2 = delta.

    The cubic and its trigonometric root are those of Miettinen & Nurminen 1985, appendix 1, with
    the arms named so that the second is the reference.
    """
    p2 = _restricted_rate(first, second, delta)
    p1 = min(1.0, max(0.0, p2 + delta))
    return p1 * (1 - p1) / first.of + p2 * (1 - p2) / second.of


def _restricted_rate(first: Rate, second: Rate, delta: float) -> float:
    (x1, n1), (x2, n2) = (first.count, first.of), (second.count, second.of)
    total = cubic = n1 + n2
    square = (n1 + 2 * n2) * delta - total - x1 - x2
    linear = (n2 * delta - total - 2 * x2) * delta + x1 + x2
    constant = x2 * delta * (1 - delta)
    shift = square / (3 * cubic)
    q = shift**3 - square * linear / (6 * cubic**2) + constant / (2 * cubic)
    p = copysign(sqrt(max(0.0, shift**2 - linear / (3 * cubic))), q)
    cosine = 1.0 if p == 0.0 else max(-1.0, min(1.0, q / p**3))
    root = 2 * p * cos((pi + acos(cosine)) / 3) - shift
    return min(1.0 - max(0.0, delta), max(max(0.0, -delta), root))


def _quantile(confidence: float) -> float:
    return -float(ndtri((1 - confidence) / 2))
