"""Is the rate of one arm lower than another's? The one test that every verdict uses.

Two runs an arm: the larger p-value of Boschloo on sessions and Student on run rates, so that
neither chance inside runs nor chance between runs alone can carry a claim. Fewer: Boschloo with
the sessions of a run correlated as declared. Six and more: the run rates decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from runner.evidence.boschloo import Counted, boschloo_less, large_sample_less
from runner.evidence.run_rate_test import Cluster, run_rate_less, run_rates_vary

RUNS_TO_COMPARE_RATES = 2
RUNS_FOR_RATES_ALONE = 6


class LowerRateMethod(StrEnum):
    NOTHING_TO_TEST = "nothing_to_test"
    CORRELATED_SESSIONS = "correlated_sessions"
    SESSIONS_AND_RUNS = "sessions_and_runs"
    RUN_RATES = "run_rates"


@dataclass(frozen=True, slots=True)
class LowerRate:
    """One-sided: small `p` says that the first arm's rate is lower."""

    p: float
    method: LowerRateMethod


def lower_rate(first: Sequence[Cluster], second: Sequence[Cluster], *, rho: float) -> LowerRate:
    """`rho` counts only where an arm has fewer than two runs."""
    first, second = _with_sessions(first), _with_sessions(second)
    method = method_for(len(first), len(second))
    if method is LowerRateMethod.NOTHING_TO_TEST:
        return LowerRate(1.0, method)
    if method is LowerRateMethod.RUN_RATES:
        return LowerRate(_by_run_rates(first, second), method)
    if method is LowerRateMethod.CORRELATED_SESSIONS:
        return LowerRate(boschloo_less(counted(first), counted(second), rho=rho), method)
    exact = boschloo_less(counted(first), counted(second))
    return LowerRate(max(exact, run_rate_less(first, second)), method)


def _by_run_rates(first: Sequence[Cluster], second: Sequence[Cluster]) -> float:
    """Runs that are all alike leave Student without a variance: then their sessions bound p."""
    if run_rates_vary(first, second):
        return run_rate_less(first, second)
    return large_sample_less(counted(first), counted(second), rho=0.0)


def method_for(runs_first: int, runs_second: int) -> LowerRateMethod:
    fewer = min(runs_first, runs_second)
    if fewer == 0:
        return LowerRateMethod.NOTHING_TO_TEST
    if fewer < RUNS_TO_COMPARE_RATES:
        return LowerRateMethod.CORRELATED_SESSIONS
    if fewer < RUNS_FOR_RATES_ALONE:
        return LowerRateMethod.SESSIONS_AND_RUNS
    return LowerRateMethod.RUN_RATES


def counted(clusters: Sequence[Cluster]) -> Counted:
    return Counted(sum(c.k for c in clusters), tuple(c.n for c in clusters))


def _with_sessions(clusters: Sequence[Cluster]) -> tuple[Cluster, ...]:
    return tuple(c for c in clusters if c.n > 0)
