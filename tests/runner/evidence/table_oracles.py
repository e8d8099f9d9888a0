"""The quantities of 2x2 tables computed another way: by libraries, exact fractions or bisection.

Nothing here is shared with what it checks. Score intervals find the restricted rates by bisection
of the likelihood's derivative instead of a closed form; Fisher is summed in fractions; correlated
Boschloo tries rates one by one on exact orderings.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb, exp, inf, log, sqrt
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import betabinom, binom, binomtest, boschloo_exact, norm
from scipy.stats.contingency import relative_risk
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

Cells = tuple[int, int, int, int]
Pair = tuple[float, float]

_HALVINGS = 70


def table_values(cells: Cells, *, confidence: float) -> dict[str, Any]:
    """By the names of the recorded tables; exact tests only where they are small enough."""
    x1, n1, x2, n2 = cells
    values: dict[str, Any] = {
        "newcombe_diff": newcombe(cells, confidence),
        "agresti_caffo_diff": agresti_caffo(cells, confidence),
        "miettinen_nurminen_diff": score_difference(cells, confidence, (n1 + n2) / (n1 + n2 - 1)),
        "mee_diff": score_difference(cells, confidence, 1.0),
        "koopman_ratio": koopman(cells, confidence),
        "katz_ratio": katz(cells, confidence),
    }
    for arm, k, n in (("arm1", x1, n1), ("arm2", x2, n2)):
        values[f"wilson_{arm}"] = wilson(k, n, confidence)
        values[f"clopper_pearson_{arm}"] = by_statsmodels(k, n, confidence, method="beta")
        values[f"jeffreys_{arm}"] = by_statsmodels(k, n, confidence, method="jeffreys")
        if k == 0:
            values[f"zero_upper95_one_sided_{arm}"] = float(1 - 0.05 ** (1 / n))
        if n <= 400:
            values[f"bb_upper95_{arm}_rho0.05"] = correlated_upper(k, (n,), 0.05)
    if n1 + n2 <= 400:
        values["fisher_less"], values["fisher_two_sided"] = fisher(cells)
    if n1 * n2 <= 1_200:
        less, greater = boschloo(cells), boschloo((x2, n2, x1, n1))
        values["boschloo_less"], values["boschloo_greater"] = less, greater
        values["boschloo_two_sided_central"] = min(1.0, 2 * min(less, greater))
    if n1 * n2 <= 150:
        values["bb_boschloo_less_rho0.05"] = correlated_boschloo(cells, 0.05)
    return values


def wilson(k: int, n: int, confidence: float) -> Pair:
    low, high = binomtest(k, n).proportion_ci(confidence, method="wilson")
    return float(low), float(high)


def by_statsmodels(k: int, n: int, confidence: float, *, method: str) -> Pair:
    low, high = proportion_confint(k, n, alpha=1 - confidence, method=method)
    return 0.0 if k == 0 else float(low), 1.0 if k == n else float(high)


def newcombe(cells: Cells, confidence: float) -> Pair:
    low, high = confint_proportions_2indep(
        *cells, method="newcomb", compare="diff", alpha=1 - confidence
    )
    return float(low), float(high)


def agresti_caffo(cells: Cells, confidence: float) -> Pair:
    low, high = confint_proportions_2indep(
        *cells, method="agresti-caffo", compare="diff", alpha=1 - confidence
    )
    return max(-1.0, float(low)), min(1.0, float(high))


def score_difference(cells: Cells, confidence: float, factor: float) -> Pair:
    x1, n1, x2, n2 = cells
    z, difference = norm.ppf((1 + confidence) / 2), x1 / n1 - x2 / n2

    def is_outside(delta: float) -> bool:
        p2 = _bisected(
            lambda p: _slope(x1, n1, p + delta) + _slope(x2, n2, p),
            max(0.0, -delta),
            min(1.0, 1.0 - delta),
        )
        p1 = min(1.0, max(0.0, p2 + delta))
        variance = (p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2) * factor
        return bool(abs(difference - delta) > z * sqrt(max(0.0, variance)))

    return _edge(is_outside, difference, -1.0), _edge(is_outside, difference, 1.0)


def koopman(cells: Cells, confidence: float) -> tuple[float, float | str]:
    x1, n1, x2, n2 = cells
    z = norm.ppf((1 + confidence) / 2)

    def is_outside(log_ratio: float) -> bool:
        ratio = exp(log_ratio)
        p2 = _bisected(
            lambda p: ratio * _slope(x1, n1, ratio * p) + _slope(x2, n2, p),
            0.0,
            min(1.0, 1.0 / ratio),
        )
        p1 = min(1.0, ratio * p2)
        variance = p1 * (1 - p1) / n1 + ratio**2 * p2 * (1 - p2) / n2
        gap = abs(x1 / n1 - ratio * x2 / n2)
        return bool(gap > 1e-15 and gap > z * sqrt(max(0.0, variance)))

    centre = log(max(x1, 0.5) / n1) - log(max(x2, 0.5) / n2)
    low = 0.0 if x1 == 0 else exp(_edge(is_outside, centre, centre - 30))
    return low, "Infinity" if x2 == 0 else exp(_edge(is_outside, centre, centre + 30))


def katz(cells: Cells, confidence: float) -> Pair | None:
    x1, n1, x2, n2 = cells
    if x1 == 0 or x2 == 0:
        return None
    interval = relative_risk(x1, n1, x2, n2).confidence_interval(confidence)
    return float(interval.low), float(interval.high)


def fisher(cells: Cells) -> Pair:
    """Less, and two-sided."""
    x1, n1, x2, n2 = cells
    total = x1 + x2
    tables = range(max(0, total - n2), min(n1, total) + 1)
    weights = {i: comb(n1, i) * comb(n2, total - i) for i in tables}
    every = comb(n1 + n2, total)
    less = sum(weight for i, weight in weights.items() if i <= x1)
    two_sided = sum(weight for weight in weights.values() if weight <= weights[x1])
    return float(Fraction(less, every)), float(Fraction(two_sided, every))


def boschloo(cells: Cells) -> float:
    x1, n1, x2, n2 = cells
    result = boschloo_exact([[x1, x2], [n1 - x1, n2 - x2]], alternative="less", n=64)
    return float(result.pvalue)


def correlated_boschloo(cells: Cells, rho: float) -> float:
    x1, n1, x2, n2 = cells
    ordering = _exact_ordering(n1, n2)
    region = np.array([[p <= ordering[x1][x2] for p in row] for row in ordering], dtype=float)
    if region.all():
        return 1.0

    def probability(rate: float) -> float:
        return float(total_law((n1,), rate, rho) @ region @ total_law((n2,), rate, rho))

    rates = np.sin(np.linspace(1e-3, np.pi / 2 - 1e-3, 150)) ** 2
    values = np.array([probability(float(rate)) for rate in rates])
    best = max(float(values.max()), float(region[0, 0]), float(region[-1, -1]))
    for i in np.argsort(values)[-3:]:
        near = rates[max(0, i - 1)], rates[min(len(rates) - 1, i + 1)]
        found = minimize_scalar(
            lambda rate: -probability(rate), bounds=near, method="bounded", options={"xatol": 1e-9}
        )
        best = max(best, -float(found.fun))
    return best


def correlated_upper(k: int, sizes: Sequence[int], rho: float) -> float:
    if k == sum(sizes):
        return 1.0
    return float(
        brentq(lambda p: total_law(sizes, p, rho)[: k + 1].sum() - 0.05, 1e-9, 1 - 1e-9, xtol=1e-13)
    )


def total_law(sizes: Sequence[int], rate: float, rho: float) -> np.ndarray:
    """Of the corrupt sessions of runs of these sizes, by scipy's own laws."""
    law = np.ones(1)
    a, b = (rate * (1 - rho) / rho, (1 - rate) * (1 - rho) / rho) if rho else (0.0, 0.0)
    for n in sizes:
        k = np.arange(n + 1)
        law = np.convolve(law, betabinom.pmf(k, n, a, b) if rho else binom.pmf(k, n, rate))
    return law


@lru_cache(maxsize=8)
def _exact_ordering(n1: int, n2: int) -> list[list[Fraction]]:
    ordering = [[Fraction(0)] * (n2 + 1) for _ in range(n1 + 1)]
    for total in range(n1 + n2 + 1):
        so_far = 0
        for i in range(max(0, total - n2), min(n1, total) + 1):
            so_far += comb(n1, i) * comb(n2, total - i)
            ordering[i][total - i] = Fraction(so_far, comb(n1 + n2, total))
    return ordering


def _slope(k: int, n: int, rate: float) -> float:
    """Of the log-likelihood of k of n."""
    up = 0.0 if k == 0 else inf if rate <= 0 else k / rate
    down = 0.0 if k == n else inf if rate >= 1 else (n - k) / (1 - rate)
    return up - down


def _bisected(falling: Callable[[float], float], low: float, high: float) -> float:
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2


def _edge(is_outside: Callable[[float], bool], inside: float, end: float) -> float:
    """Where one leaves the interval on the way to `end`, which is its edge where one never does."""
    if inside == end or not is_outside(end + (inside - end) * 1e-12):
        return end
    outside = end
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if is_outside(middle) else (middle, outside)
    return (inside + outside) / 2
