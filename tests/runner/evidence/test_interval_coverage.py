"""Exact enumeration: how often each interval holds the true value. No random numbers."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from runner.evidence.difference_intervals import (
    agresti_caffo_difference,
    miettinen_nurminen_difference,
    newcombe_difference,
)
from runner.evidence.proportion_limits import clopper_pearson, jeffreys
from runner.evidence.rates import Interval, Rate

GRID = np.round(np.arange(0.005, 0.5001, 0.005), 3)


def coverage(interval: Callable[[Rate], Interval], n: int) -> np.ndarray:
    """Of one rate, at each rate of the grid."""
    limits = np.array([interval(Rate(k, n)) for k in range(n + 1)])
    holds = (limits[:, :1] <= GRID) & (limits[:, 1:] >= GRID)
    return (binom.pmf(np.arange(n + 1)[:, None], n, GRID) * holds).sum(axis=0)


# Figures of an independent enumeration: minimum and mean over the grid.
@pytest.mark.parametrize(
    ("interval", "n", "minimum", "mean"),
    [
        (Rate.wilson, 5, 0.837, 0.954),
        (clopper_pearson, 5, 0.975, 0.990),
        (jeffreys, 5, 0.900, 0.958),
        (Rate.wilson, 80, 0.936, 0.952),
        (clopper_pearson, 80, 0.953, 0.966),
        (jeffreys, 80, 0.920, 0.950),
    ],
)
def test_one_rate_is_covered_as_often_as_enumerated_elsewhere(
    interval: Callable[[Rate], Interval], n: int, minimum: float, mean: float
) -> None:
    covered = coverage(interval, n)

    assert covered.min() == pytest.approx(minimum, abs=0.006)
    assert covered.mean() == pytest.approx(mean, abs=0.003)


@pytest.mark.parametrize("n", [1, 2, 5, 17, 80])
def test_what_decides_never_covers_less_than_it_says(n: int) -> None:
    assert coverage(clopper_pearson, n).min() >= 0.95


TRUE_RATES = (0.0, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3)


@pytest.mark.parametrize(
    ("interval", "minimum", "mean", "width"),
    [
        (newcombe_difference, 0.950, 0.966, 0.185),
        (miettinen_nurminen_difference, 0.934, 0.957, 0.182),
        (agresti_caffo_difference, 0.932, 0.961, 0.178),
    ],
)
def test_a_difference_is_covered_as_often_as_enumerated_elsewhere(
    interval: Callable[[Rate, Rate], Interval], minimum: float, mean: float, width: float
) -> None:
    n, most = 80, 52  # more than 52 of 80 has no weight at these rates
    low, high = np.zeros((most, most)), np.zeros((most, most))
    for i in range(most):
        for j in range(i + 1):
            low[i, j], high[i, j] = interval(Rate(i, n), Rate(j, n))
            low[j, i], high[j, i] = -high[i, j], -low[i, j]
    laws = [binom.pmf(np.arange(most), n, p) for p in TRUE_RATES]
    covered, widths = [], []
    for p1, law1 in zip(TRUE_RATES, laws, strict=True):
        for p2, law2 in zip(TRUE_RATES, laws, strict=True):
            difference = p1 - p2
            holds = (low <= difference + 1e-12) & (difference - 1e-12 <= high)
            covered.append(law1 @ holds @ law2)
            widths.append(law1 @ (high - low) @ law2)

    assert min(covered) == pytest.approx(minimum, abs=0.004)
    assert np.mean(covered) == pytest.approx(mean, abs=0.004)
    assert np.mean(widths) == pytest.approx(width, abs=0.004)
