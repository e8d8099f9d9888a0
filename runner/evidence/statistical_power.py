"""How likely a comparison is to show what is true: exact where sessions count, simulated for runs.

"Before" has the higher rate; all tests are one-sided. Knows no costs and no plan.
"""

from functools import lru_cache
from math import ceil, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtr

from runner.evidence.beta_binomial import FloatArray
from runner.evidence.boschloo import (
    MOST_CELLS,
    fisher_ordering,
    largest_probability,
    region_bounds,
    region_probability,
    shared_rate_laws,
)
from runner.evidence.lower_rate import LowerRateMethod, method_for
from runner.evidence.session_correlation import DECLARED_FOR_SINGLE_RUNS

IntArray = npt.NDArray[np.intp]

MOST_EXACT_SESSIONS = 500
_SEARCH_START = 0.8  # of the normal approximation, which can lie above the exact need


class SessionsNeeded(NamedTuple):
    """Power is saw-toothed in the number of sessions: where it is first `reached`, and from where
    on it is `kept`. Plan with the second. Not `exact`: the normal approximation."""

    reached: int
    kept: int
    exact: bool = True


def exact_power(
    before: float, after: float, *, n_before: int, n_after: int, alpha: float = 0.05
) -> float:
    """Of Boschloo's test with independent sessions."""
    bounds = critical_bounds((n_after,), (n_before,), alpha, 0.0)
    return float(
        region_probability(
            bounds,
            (n_after,),
            (n_before,),
            np.array([after]),
            rho=0.0,
            second_rates=np.array([before]),
        )[0]
    )


@lru_cache(maxsize=256)
def sessions_needed(
    before: float, after: float, *, power: float = 0.8, alpha: float = 0.05
) -> SessionsNeeded:
    """Per arm, for Boschloo's test; beyond MOST_EXACT_SESSIONS by the normal approximation.

    Raises ValueError unless 0 <= after < before <= 1.
    """
    guess = normal_sessions_needed(before, after, power=power, alpha=alpha)
    if guess > MOST_EXACT_SESSIONS:
        return SessionsNeeded(ceil(guess), ceil(guess), exact=False)
    reached = None
    kept = n = max(1, int(guess * _SEARCH_START))
    while n < kept + max(12, kept // 8):
        if exact_power(before, after, n_before=n, n_after=n, alpha=alpha) < power:
            kept = n + 1
        elif reached is None:
            reached = n
        n += 1
    return SessionsNeeded(kept if reached is None else reached, kept)


def normal_sessions_needed(
    before: float, after: float, *, power: float = 0.8, alpha: float = 0.05
) -> float:
    """(z_a sqrt(2 p q) + z_b sqrt(p1 q1 + p2 q2))^2 / (p1 - p2)^2 with p their mean.

    Fleiss, Statistical Methods for Rates and Proportions (1981), 3.2. Raises ValueError unless
    the rates lie in order.
    """
    if not 0.0 <= after < before <= 1.0:
        raise ValueError(f"a lower rate cannot be shown from {before} to {after}")
    mean = (before + after) / 2
    spread = sqrt(before * (1 - before) + after * (1 - after))
    z_alpha, z_power = -float(ndtri(alpha)), float(ndtri(power))
    return (z_alpha * sqrt(2 * mean * (1 - mean)) + z_power * spread) ** 2 / (before - after) ** 2


def run_power(
    before: float,
    after: float,
    *,
    runs_before: int,
    runs_after: int,
    sessions: int,
    rho: float,
    rng: np.random.Generator,
    alpha: float = 0.05,
    campaigns: int = 2_000,
) -> float:
    """Share of simulated campaigns in which the verdict's own test finds the after arm lower.

    Run rates follow a beta law with correlation `rho`; single runs are judged at the declared
    correlation, whatever the true one is. Standard error at most 0.011 with 2,000 campaigns.
    """
    x_after = _simulated_counts(after, (campaigns, runs_after), sessions, rho, rng)
    x_before = _simulated_counts(before, (campaigns, runs_before), sessions, rho, rng)
    method = method_for(runs_after, runs_before)
    if method is LowerRateMethod.NOTHING_TO_TEST:
        return 0.0
    found = np.ones(campaigns, dtype=bool)
    if method is not LowerRateMethod.RUN_RATES:
        single = method is LowerRateMethod.CORRELATED_SESSIONS
        found &= _sessions_reject(
            x_after,
            x_before,
            sessions,
            alpha=alpha,
            rho=DECLARED_FOR_SINGLE_RUNS if single else 0.0,
        )
    if method is not LowerRateMethod.CORRELATED_SESSIONS:
        found &= _run_rate_p(x_after, x_before, sessions) <= alpha
    return float(found.mean())


@lru_cache(maxsize=512)
def critical_bounds(
    first_sizes: tuple[int, ...], second_sizes: tuple[int, ...], alpha: float, rho: float
) -> IntArray:
    """The tables that Boschloo's test rejects: for each second count, how many first counts."""
    ordering = fisher_ordering(sum(first_sizes), sum(second_sizes))
    levels = np.unique(ordering[ordering <= 0.5])
    first, second = shared_rate_laws(first_sizes, rho)[1], shared_rate_laws(second_sizes, rho)[0]

    def bounds_at(index: int) -> IntArray:
        return region_bounds(ordering, float(levels[index]))

    def coarse_size(index: int) -> float:
        return float((second * first[:, bounds_at(index)]).sum(axis=1).max())

    low, high = -1, len(levels)  # levels[low] is rejected, levels[high] is not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if coarse_size(middle) <= alpha else (low, middle)
    while low >= 0:
        bounds = bounds_at(low)
        if largest_probability(bounds, first_sizes, second_sizes, rho=rho) <= alpha:
            return bounds
        low -= 1
    return np.zeros(ordering.shape[1], dtype=np.intp)


def _simulated_counts(
    rate: float, shape: tuple[int, int], sessions: int, rho: float, rng: np.random.Generator
) -> IntArray:
    if rho <= 0.0 or rate in (0.0, 1.0):
        return rng.binomial(sessions, rate, shape).astype(np.intp)
    scale = (1 - rho) / rho
    rates = rng.beta(rate * scale, (1 - rate) * scale, shape)
    return rng.binomial(sessions, rates).astype(np.intp)


def _sessions_reject(
    x_first: IntArray, x_second: IntArray, sessions: int, *, alpha: float, rho: float
) -> npt.NDArray[np.bool_]:
    """Whether Boschloo's test rejects each campaign; the pooled z where tables are too many."""
    first_sizes, second_sizes = ((sessions,) * x.shape[1] for x in (x_first, x_second))
    first, second = x_first.sum(axis=1), x_second.sum(axis=1)
    n_first, n_second = sum(first_sizes), sum(second_sizes)
    if n_first * n_second <= MOST_CELLS:
        bounds = critical_bounds(first_sizes, second_sizes, alpha, rho)
        exact: npt.NDArray[np.bool_] = first < bounds[second]
        return exact
    shared = (first + second) / (n_first + n_second)
    effect = 1 + (sessions - 1) * rho
    error = np.sqrt(shared * (1 - shared) * effect * (1 / n_first + 1 / n_second))
    gap = second / n_second - first / n_first
    approximate: npt.NDArray[np.bool_] = gap > -float(ndtri(alpha)) * error
    return approximate


def _run_rate_p(x_first: IntArray, x_second: IntArray, sessions: int) -> FloatArray:
    """The run-rate test of many campaigns at once; one row a campaign."""
    first, second = (
        np.arcsin(np.sqrt((x + 0.375) / (sessions + 0.75))) for x in (x_first, x_second)
    )
    freedom = first.shape[1] + second.shape[1] - 2
    squares = first.var(axis=1) * first.shape[1] + second.var(axis=1) * second.shape[1]
    gap = first.mean(axis=1) - second.mean(axis=1)
    error = np.sqrt(squares / freedom * (1 / first.shape[1] + 1 / second.shape[1]))
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(error > 1e-10, gap / error, np.sign(gap) * np.inf)
    result: FloatArray = stdtr(freedom, np.nan_to_num(statistic, nan=0.0, posinf=1e9, neginf=-1e9))
    return result


def runs_guess(sessions_per_arm: float, *, sessions: int, rho: float) -> int:
    """Runs of so many sessions by the design effect, and one more: where to start looking."""
    effect = 1.0 + (sessions - 1.0) * rho
    return max(2, ceil(sessions_per_arm * effect / sessions) + 1)
