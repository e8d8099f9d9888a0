"""How much sessions of one run resemble each other: estimated, assumed, and how much would matter.

The estimate from a few runs is a diagnostic. It may raise what is assumed, never lower it.
"""

from collections.abc import Sequence
from math import log

from runner.evidence.beta_binomial import MAX_RHO
from runner.evidence.boschloo import Counted, boschloo_less
from runner.evidence.root_finding import root_between
from runner.evidence.run_rate_test import Cluster

FLOOR_OF_REPEATED_RUNS = 0.02
DECLARED_FOR_SINGLE_RUNS = 0.05

_PRECISION = 1e-7


def icc_anova(arms: Sequence[Sequence[Cluster]]) -> float | None:
    """One-way analysis of variance pooled over the arms that have two runs; may be negative.

    None where no arm repeats. Donner & Klar, Design and Analysis of Cluster Randomization Trials
    (2000), 1.4, with the mean run size corrected for unequal runs.
    """
    repeated = [[c for c in arm if c.n > 0] for arm in arms]
    repeated = [arm for arm in repeated if len(arm) > 1]
    if not repeated:
        return None
    runs_beyond_first = sum(len(arm) - 1 for arm in repeated)
    sessions_beyond_first = sum(c.n - 1 for arm in repeated for c in arm)
    between = sum(_squares_between(arm) for arm in repeated) / runs_beyond_first
    within = sum(c.k * (1 - c.k / c.n) for arm in repeated for c in arm)
    within = within / sessions_beyond_first if sessions_beyond_first else 0.0
    run_size = sum(_size_beyond_first(arm) for arm in repeated) / runs_beyond_first
    scale = between + (run_size - 1) * within
    return (between - within) / scale if scale > 0 else 0.0


def assumed_rho(
    icc: float | None,
    *,
    repeated: bool,
    floor: float = FLOOR_OF_REPEATED_RUNS,
    single: float = DECLARED_FOR_SINGLE_RUNS,
) -> float:
    """The larger of the estimate and what is assumed; `repeated`: both arms have two runs."""
    return min(MAX_RHO, max(icc or 0.0, floor if repeated else single))


def tipping_rho(first: Counted, second: Counted, *, alpha: float) -> float | None:
    """The largest correlation at which "first is lower" still holds; None if it never does."""

    def excess(rho: float) -> float:
        return log(max(boschloo_less(first, second, rho=rho), 1e-300) / alpha)

    if excess(0.0) > 0.0:
        return None
    if excess(MAX_RHO) <= 0.0:
        return MAX_RHO
    return root_between(excess, 0.0, MAX_RHO, precision=_PRECISION)


def design_effect(run_size: float, rho: float) -> float:
    """By how much correlation inflates the variance of a rate (Kish, Survey Sampling, 1965)."""
    return 1.0 + (run_size - 1.0) * rho


def _squares_between(arm: Sequence[Cluster]) -> float:
    mean = sum(c.k for c in arm) / sum(c.n for c in arm)
    return sum(c.n * (c.k / c.n - mean) ** 2 for c in arm)


def _size_beyond_first(arm: Sequence[Cluster]) -> float:
    total = sum(c.n for c in arm)
    return total - sum(c.n**2 for c in arm) / total
