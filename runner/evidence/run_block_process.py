"""Evidence that the first arm has the lower rate, run pair by run pair, valid whenever one looks.

For every rate that both arms may share and every correlation up to `rho_max` the expected e-value
of a pair is at most 1, also when the rate drifts from pair to pair. It is the alternative over its
reverse information projection on that null (Grünwald, de Heide & Koolen, "Safe testing", 2024),
found numerically by EM and then divided by its largest expectation on a finer grid.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import exp, inf, log
from typing import NamedTuple

import numpy as np

from runner.evidence.beta_binomial import FloatArray, beta_binomial_pmf

DEFAULT_ALTERNATIVES: tuple[tuple[float, float], ...] = ((0.01, 0.15), (0.03, 0.15), (0.06, 0.15))
DEFAULT_RHO_MAX = 0.05

_EM_ROUNDS = 400
_CLOSE_ENOUGH = 1.002
# What the expectation can exceed its largest value on the grid by, between the grid's points.
_MARGIN = 1.001
_LARGEST_LOG = 700.0  # beyond it no float holds the e-value, and none needs to


class RunPair(NamedTuple):
    """One finished run of each arm. The worst case counts silent sessions as corrupt in the first
    arm and as clean in the second."""

    first_corrupt: int
    first_sessions: int
    second_corrupt: int
    second_sessions: int


def run_block_e_value(
    pairs: Sequence[RunPair],
    *,
    alternatives: Sequence[tuple[float, float]] = DEFAULT_ALTERNATIVES,
    rho_max: float = DEFAULT_RHO_MAX,
) -> float:
    """Reject "not lower" at 1 / alpha.

    `alternatives` are the predicted rates (first, second); their e-values are averaged.
    """
    logs = [
        sum(_log_e(pair, alternative, rho_max) for pair in pairs) for alternative in alternatives
    ]
    top = max(logs)
    if top == -inf:
        return 0.0
    return exp(min(top, _LARGEST_LOG)) * sum(exp(value - top) for value in logs) / len(logs)


@lru_cache(maxsize=64)
def e_table(
    first_sessions: int, second_sessions: int, alternative: tuple[float, float], rho_max: float
) -> FloatArray:
    """The e-value of every pair of counts: shape (first + 1, second + 1), read-only."""
    rates_first, rates_second = (np.array([rate]) for rate in alternative)
    numerator = np.outer(
        beta_binomial_pmf(first_sessions, rates_first, rho=rho_max)[0],
        beta_binomial_pmf(second_sessions, rates_second, rho=rho_max)[0],
    )
    sizes = first_sessions, second_sessions
    table = _over_projection(numerator, *_null_laws(*sizes, _rates(0.015), _rhos(rho_max, 3)))
    first, second = _null_laws(*sizes, _rates(0.004), _rhos(rho_max, 5))
    largest = float(_expectations(table, first, second).max())
    table = table / (max(1.0, largest) * _MARGIN)
    table.setflags(write=False)
    return table


def largest_expectation(table: FloatArray, rates: FloatArray, *, rho: float) -> float:
    """Of an e-table when both arms share one of these rates: at most 1 if it is valid there."""
    first, second = (beta_binomial_pmf(n - 1, rates, rho=rho) for n in table.shape)
    return float(_expectations(table, first, second).max())


def _log_e(pair: RunPair, alternative: tuple[float, float], rho_max: float) -> float:
    table = e_table(pair.first_sessions, pair.second_sessions, alternative, rho_max)
    value = float(table[pair.first_corrupt, pair.second_corrupt])
    return log(value) if value > 0.0 else -inf


def _over_projection(numerator: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Numerator over the mixture of null laws that is closest to it."""
    weights = np.full(len(first), 1 / len(first))
    for _ in range(_EM_ROUNDS):
        mixture = (first * weights[:, None]).T @ second
        ratio = np.where(numerator > 0, numerator / np.maximum(mixture, 1e-300), 0.0)
        gains = _expectations(ratio, first, second)
        if gains.max() < _CLOSE_ENOUGH:
            break
        weights = weights * gains
        weights /= weights.sum()
    return ratio


def _expectations(table: FloatArray, first: FloatArray, second: FloatArray) -> FloatArray:
    """Of the table under each pair of laws."""
    result: FloatArray = ((first @ table) * second).sum(axis=1)
    return result


def _null_laws(
    first_sessions: int, second_sessions: int, rates: FloatArray, rhos: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """One row for each shared rate and correlation."""
    first = [beta_binomial_pmf(first_sessions, rates, rho=float(rho)) for rho in rhos]
    second = [beta_binomial_pmf(second_sessions, rates, rho=float(rho)) for rho in rhos]
    return np.concatenate(first), np.concatenate(second)


def _rates(step: float) -> FloatArray:
    """Finer near 0, where the counts live; up to 1, since no shared rate is ruled out."""
    low, high = np.arange(0.01, 0.45, step), np.linspace(0.45, 1.0, 2 + round(0.2 / step))
    return np.unique(np.concatenate([[5e-4, 2e-3, 5e-3], low, high]))


def _rhos(rho_max: float, points: int) -> FloatArray:
    return np.zeros(1) if rho_max == 0 else np.linspace(0.0, rho_max, points)
