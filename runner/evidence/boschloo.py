"""Boschloo's exact test that one rate is lower than another, also for correlated sessions.

Tables are ordered by Fisher's one-sided p-value, and the p-value is the largest probability, over
the common rate, of a table at least as extreme (Boschloo, Statistica Neerlandica 24, 1970). With
rho > 0 the ordering stays and the arms' totals follow sums of beta-binomials, one for each run.
The arms are named first and second; "less" means that the first has the lower rate.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import gammaln

from runner.evidence.beta_binomial import FloatArray, total_pmf

# Two tables of equal p-value differ by rounding; without this tolerance the answer would depend
# on which arm is named first.
TIE_TOLERANCE = 1e-9

_COARSE_POINTS = 129
_ZOOM_POINTS = 17
_ZOOMS = 4
_PEAKS = 3


class Counted(NamedTuple):
    """Corrupt sessions of one arm and the sizes of its runs."""

    corrupt: int
    run_sizes: tuple[int, ...]

    @property
    def n(self) -> int:
        return sum(self.run_sizes)


@lru_cache(maxsize=4096)
def boschloo_less(first: Counted, second: Counted, *, rho: float = 0.0) -> float:
    """One-sided p-value for a lower rate in `first`; rho = 0 is Boschloo's own test."""
    ordering = fisher_ordering(first.n, second.n)
    observed = ordering[first.corrupt, second.corrupt]
    bounds = region_bounds(ordering, float(observed))
    return largest_probability(bounds, first.run_sizes, second.run_sizes, rho=rho)


def boschloo_two_sided(first: Counted, second: Counted, *, rho: float = 0.0) -> float:
    """Central: twice the smaller one-sided p-value, at most 1."""
    smaller = min(boschloo_less(first, second, rho=rho), boschloo_less(second, first, rho=rho))
    return min(1.0, 2 * smaller)


@lru_cache(maxsize=16)
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
    first_sizes: Sequence[int],
    second_sizes: Sequence[int],
    *,
    rho: float,
) -> float:
    """The largest probability of the region over the rate that both arms share."""

    def probability(angles: FloatArray) -> FloatArray:
        return region_probability(bounds, first_sizes, second_sizes, np.sin(angles) ** 2, rho=rho)

    angles = np.linspace(0.0, np.pi / 2, _COARSE_POINTS)
    step = float(angles[1])
    values = probability(angles)
    best = float(values.max())
    centres = _highest_peaks(angles, values)
    for _ in range(_ZOOMS):
        near = centres[:, None] + np.linspace(-step, step, _ZOOM_POINTS)
        near = np.clip(near, 0.0, np.pi / 2)
        values = probability(near.ravel()).reshape(near.shape)
        best = max(best, float(values.max()))
        centres = near[np.arange(len(near)), values.argmax(axis=1)]
        step *= 2 / (_ZOOM_POINTS - 1)
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
    first = np.cumsum(total_pmf(first_sizes, rates, rho=rho), axis=1)
    first = np.concatenate([np.zeros((len(rates), 1)), first], axis=1)
    second = total_pmf(second_sizes, rates if second_rates is None else second_rates, rho=rho)
    result: FloatArray = np.einsum("gj,gj->g", second, first[:, bounds])
    return result


def _highest_peaks(angles: FloatArray, values: FloatArray) -> FloatArray:
    padded = np.concatenate([[-1.0], values, [-1.0]])
    is_peak = (values >= padded[:-2]) & (values >= padded[2:])
    peaks = np.flatnonzero(is_peak)
    chosen = peaks[np.argsort(values[peaks])[-_PEAKS:]]
    return angles[chosen]


def _log_choose(n: int) -> FloatArray:
    k = np.arange(n + 1)
    result: FloatArray = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return result
