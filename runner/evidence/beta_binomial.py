"""The beta-binomial law of corrupt sessions in runs whose sessions are correlated; knows no data.

A run's own rate follows a beta law with the given mean and the intra-run correlation `rho`
(ICC), so that rho = 0 is the binomial. The probability of k of n is written as a product,

    C(n, k) * prod_{i<k} (p + i g) * prod_{i<n-k} (1 - p + i g) / prod_{i<n} (1 + i g),

with g = rho / (1 - rho) (Johnson, Kemp & Kotz, Univariate Discrete Distributions, 6.2.2), which
keeps its relative accuracy for tiny rho, where a ratio of beta functions loses it.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

FloatArray: TypeAlias = npt.NDArray[np.float64]

MAX_RHO = 0.99
"""Above it a run is one coin toss; the laws are evaluated at this value."""

_FEW_ROWS = 8


def beta_binomial_pmf(n: int, rates: FloatArray, *, rho: float) -> FloatArray:
    """Probability of 0..n corrupt of `n`, one row per rate: shape (rates, n + 1)."""
    g = min(rho, MAX_RHO) / (1.0 - min(rho, MAX_RHO))
    steps = np.arange(n, dtype=np.float64) * g
    with np.errstate(divide="ignore"):
        corrupt = _running_sums(np.log(rates[:, None] + steps))
        clean = _running_sums(np.log((1.0 - rates)[:, None] + steps))
    log_pmf = _log_choose(n) + corrupt + clean[:, ::-1] - np.log1p(steps).sum()
    pmf: FloatArray = np.exp(log_pmf)
    return pmf


def total_pmf(
    run_sizes: Sequence[int], rates: FloatArray, *, rho: float, most: int | None = None
) -> FloatArray:
    """Law of the sum over independent runs of these sizes: shape (rates, sum of sizes + 1).

    Sums of products of probabilities only, so that far tails keep their relative accuracy. With
    `most` only the probabilities of 0 to `most`, for much less work where that is few.
    """
    end = None if most is None else most + 1
    if rho <= 0.0:
        return beta_binomial_pmf(sum(run_sizes), rates, rho=0.0)[:, :end]
    laws = {size: beta_binomial_pmf(size, rates, rho=rho)[:, :end] for size in set(run_sizes)}
    total = np.ones((len(rates), 1))
    for size in run_sizes:
        total = _convolve_rows(total, laws[size])[:, :end]
    return total


def probability_of_none(run_sizes: Sequence[int], rate: float, *, rho: float) -> float:
    """That not one session of these runs is corrupt at this rate."""
    g = min(rho, MAX_RHO) / (1.0 - min(rho, MAX_RHO))
    if rate >= 1.0:
        return 0.0 if sum(run_sizes) else 1.0
    steps = [np.arange(size, dtype=np.float64) * g for size in run_sizes]
    log_none = sum(float((np.log(1.0 - rate + s) - np.log1p(s)).sum()) for s in steps)
    return float(np.exp(log_none))


def _running_sums(terms: FloatArray) -> FloatArray:
    """Sums of the first 0, 1, ... n terms of each row."""
    return np.concatenate([np.zeros((len(terms), 1)), np.cumsum(terms, axis=1)], axis=1)


def _log_choose(n: int) -> FloatArray:
    k = np.arange(n + 1)
    result: FloatArray = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return result


def _convolve_rows(left: FloatArray, right: FloatArray) -> FloatArray:
    if len(left) <= _FEW_ROWS:
        return np.stack([np.convolve(a, b) for a, b in zip(left, right, strict=True)])
    short, long = (left, right) if left.shape[1] <= right.shape[1] else (right, left)
    width = long.shape[1]
    result = np.zeros((len(left), short.shape[1] + width - 1))
    for i in range(short.shape[1]):
        result[:, i : i + width] += short[:, i : i + 1] * long
    return result
