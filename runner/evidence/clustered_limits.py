"""One-sided exact limits for the rate of an arm whose sessions are correlated inside each run.

At rho = 0 they are the one-sided Clopper-Pearson limits, at k = 0 the rule of three in runs.
"""

from collections.abc import Sequence

import numpy as np

from runner.evidence.beta_binomial import probability_of_none, total_pmf
from runner.evidence.proportion_limits import exact_lower_limit, exact_upper_limit
from runner.evidence.rates import CONFIDENCE, Rate
from runner.evidence.root_finding import root_between


def clustered_upper_limit(
    k: int, run_sizes: Sequence[int], *, rho: float, confidence: float = CONFIDENCE
) -> float:
    """The rate at which `k` or fewer corrupt sessions have probability 1 - confidence."""
    sizes = _sizes_that_hold(k, run_sizes)
    if k == sum(sizes):
        return 1.0
    if rho <= 0.0:
        return exact_upper_limit(Rate(k, sum(sizes)), confidence)

    def excess(rate: float) -> float:
        return _at_most(k, sizes, rate=rate, rho=rho) - (1 - confidence)

    return root_between(excess, 0.0, 1.0)


def clustered_lower_limit(
    k: int, run_sizes: Sequence[int], *, rho: float, confidence: float = CONFIDENCE
) -> float:
    """The rate at which `k` or more corrupt sessions have probability 1 - confidence."""
    sizes = _sizes_that_hold(k, run_sizes)
    if k == 0:
        return 0.0
    if rho <= 0.0:
        return exact_lower_limit(Rate(k, sum(sizes)), confidence)

    def excess(rate: float) -> float:
        return confidence - _at_most(k - 1, sizes, rate=rate, rho=rho)

    return root_between(excess, 0.0, 1.0)


def probability_at_least(k: int, run_sizes: Sequence[int], *, rate: float, rho: float) -> float:
    """Of `k` or more corrupt sessions at this rate."""
    sizes = _sizes_that_hold(k, run_sizes)
    pmf = total_pmf(sizes, np.array([rate]), rho=rho)[0]
    return float(min(1.0, pmf[k:].sum()))


def _at_most(k: int, sizes: Sequence[int], *, rate: float, rho: float) -> float:
    if k == 0:
        return probability_of_none(sizes, rate, rho=rho)
    return float(total_pmf(sizes, np.array([rate]), rho=rho, most=k).sum())


def _sizes_that_hold(k: int, run_sizes: Sequence[int]) -> tuple[int, ...]:
    sizes = tuple(size for size in run_sizes if size > 0)
    if not sizes or not 0 <= k <= sum(sizes):
        raise ValueError(f"{k} corrupt sessions do not fit in runs of {list(run_sizes)} sessions")
    return sizes
