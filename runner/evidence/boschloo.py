"""Boschloo's exact test that one rate is lower than another, also for correlated sessions.

Tables are ordered by Fisher's one-sided p-value, and the p-value is the largest probability, over
the common rate, of a table at least as extreme (Boschloo, Statistica Neerlandica 24, 1970). With
rho > 0 the ordering stays and the arms' totals follow sums of beta-binomials, one for each run.
The arms are named first and second; "less" means that the first has the lower rate.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln, ndtr

from runner.evidence.beta_binomial import FloatArray, total_pmf
from runner.evidence.fisher import fisher_less

# Two tables of equal p-value differ by rounding; without this tolerance the answer would depend
# on which arm is named first.
TIE_TOLERANCE = 1e-9

MOST_CELLS = 4_000_000
"""Tables of two arms of 2,000 sessions; a few hundred megabytes of work."""

# Rates are sin(angle)^2: equal steps of the angle are equal steps in standard errors. Each zoom
# looks four times closer; six leave an error below 1e-9 of the maximum.
_ANGLES = np.linspace(0.0, np.pi / 2, 161)
_ZOOM = np.linspace(-1.0, 1.0, 9)
_ZOOMS = 6
_PEAKS = 3
_PEAK_SHARE = 0.8


class Counted(NamedTuple):
    """Corrupt sessions of one arm and the sizes of its runs."""

    corrupt: int
    run_sizes: tuple[int, ...]

    @property
    def n(self) -> int:
        return sum(self.run_sizes)


@lru_cache(maxsize=4096)
def boschloo_less(first: Counted, second: Counted, *, rho: float = 0.0) -> float:
    """One-sided p-value for a lower rate in `first`; rho = 0 is Boschloo's own test.

    Beyond MOST_CELLS tables see `large_sample_less`.
    """
    if first.corrupt == first.n or second.corrupt == 0:
        return 1.0  # no table is less extreme
    if first.n * second.n > MOST_CELLS:
        return large_sample_less(first, second, rho=rho)
    ordering = fisher_ordering(first.n, second.n)
    observed = ordering[first.corrupt, second.corrupt]
    bounds = region_bounds(ordering, float(observed))
    return largest_probability(bounds, first.run_sizes, second.run_sizes, rho=rho)


def large_sample_less(first: Counted, second: Counted, *, rho: float) -> float:
    """Where there are too many tables to try: the larger p-value of Fisher and the pooled z.

    The variance of z is inflated by the design effect of each arm, which is exact for its rate.
    """
    total = first.corrupt + second.corrupt
    fisher = fisher_less(first.corrupt, first.n, second.corrupt, second.n)
    shared = total / (first.n + second.n)
    variance = shared * (1 - shared) * sum(_inflated(arm, rho) for arm in (first, second))
    if variance <= 0.0:
        return fisher
    gap = first.corrupt / first.n - second.corrupt / second.n
    return max(fisher, float(ndtr(gap / sqrt(variance))))


def boschloo_two_sided(first: Counted, second: Counted, *, rho: float = 0.0) -> float:
    """Central: twice the smaller one-sided p-value, at most 1."""
    smaller = min(boschloo_less(first, second, rho=rho), boschloo_less(second, first, rho=rho))
    return min(1.0, 2 * smaller)


@lru_cache(maxsize=32)
def fisher_ordering(n_first: int, n_second: int) -> FloatArray:
    """Fisher's p-value for "less" of every table: shape (n_first + 1, n_second + 1), read-only.

    Row by row, P(X <= x | total) = P(X <= x - 1 | total) + P(X = x | total).
    """
    log_first, log_second = _log_choose(n_first), _log_choose(n_second)
    log_total = _log_choose(n_first + n_second)
    ordering = np.empty((n_first + 1, n_second + 1))
    x_second = np.arange(n_second + 1)
    below = np.zeros(n_second + 1)
    for x in range(n_first + 1):
        point = np.exp(log_first[x] + log_second - log_total[x + x_second])
        ordering[x] = point + below
        below = np.append(ordering[x, 1:], 0.0)
    ordering.setflags(write=False)
    return ordering


def region_bounds(ordering: FloatArray, level: float) -> npt.NDArray[np.intp]:
    """For each count of the second arm, how many counts of the first, from 0 on, are as extreme.

    Fisher's p-value rises with the first count, so that a number says all.
    """
    bounds: npt.NDArray[np.intp] = (ordering <= level * (1 + TIE_TOLERANCE)).sum(axis=0)
    return bounds


def largest_probability(
    bounds: npt.NDArray[np.intp],
    first_sizes: tuple[int, ...],
    second_sizes: tuple[int, ...],
    *,
    rho: float,
) -> float:
    """The largest probability of the region over the rate that both arms share."""
    values = _of_laws(
        bounds, shared_rate_laws(first_sizes, rho)[1], shared_rate_laws(second_sizes, rho)[0]
    )
    best = float(values.max())
    centres = _highest_peaks(values)
    step = float(_ANGLES[1])
    for _ in range(_ZOOMS):
        near = np.clip(centres[:, None] + step * _ZOOM, 0.0, np.pi / 2)
        rates = np.sin(near.ravel()) ** 2
        values = region_probability(bounds, first_sizes, second_sizes, rates, rho=rho)
        best = max(best, float(values.max()))
        values = values.reshape(near.shape)
        centres = near[np.arange(len(near)), values.argmax(axis=1)]
        step *= float(_ZOOM[1] - _ZOOM[0])
    return min(1.0, best)


def region_probability(
    bounds: npt.NDArray[np.intp],
    first_sizes: Sequence[int],
    second_sizes: Sequence[int],
    rates: FloatArray,
    *,
    rho: float,
    second_rates: FloatArray | None = None,
) -> FloatArray:
    """Probability of the region at each rate; `second_rates` where the arms do not share it."""
    first = _below(total_pmf(first_sizes, rates, rho=rho))
    second = total_pmf(second_sizes, rates if second_rates is None else second_rates, rho=rho)
    return _of_laws(bounds, first, second)


@lru_cache(maxsize=64)
def shared_rate_laws(sizes: tuple[int, ...], rho: float) -> tuple[FloatArray, FloatArray]:
    """Of an arm's total at each rate of the coarse grid: P(X = k), and P(X < k); read-only."""
    pmf = total_pmf(sizes, np.sin(_ANGLES) ** 2, rho=rho)
    below = _below(pmf)
    for law in (pmf, below):
        law.setflags(write=False)
    return pmf, below


def _of_laws(
    bounds: npt.NDArray[np.intp], first_below: FloatArray, second: FloatArray
) -> FloatArray:
    result: FloatArray = np.einsum("gj,gj->g", second, first_below[:, bounds])
    return result


def _below(pmf: FloatArray) -> FloatArray:
    """P(X < k) for k from 0 to n + 1, a row a law."""
    return np.concatenate([np.zeros((len(pmf), 1)), np.cumsum(pmf, axis=1)], axis=1)


def _highest_peaks(values: FloatArray) -> FloatArray:
    """Angles of the grid's peaks that could hold the maximum between its points."""
    padded = np.concatenate([[-1.0], values, [-1.0]])
    is_peak = (values >= padded[:-2]) & (values >= padded[2:])
    peaks = np.flatnonzero(is_peak & (values >= _PEAK_SHARE * values.max()))
    chosen = peaks[np.argsort(values[peaks])[-_PEAKS:]]
    return _ANGLES[chosen]


def _inflated(arm: Counted, rho: float) -> float:
    """What multiplies p (1 - p) in the variance of the arm's rate."""
    return sum(n * (1 + (n - 1) * rho) for n in arm.run_sizes) / arm.n**2


def _log_choose(n: int) -> FloatArray:
    k = np.arange(n + 1)
    result: FloatArray = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return result
