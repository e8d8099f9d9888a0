"""When runs decide that an arm flips or is clean."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.evidence.beta_binomial import beta_binomial_pmf
from runner.evidence.silent_sessions import LaunchCounts
from runner.reduce.standing import (
    WEDGE_RULE,
    Standing,
    StandingRule,
    clean_e_value,
    standing_of,
    stray_ratios,
)

RULE = StandingRule()
CLEAN = LaunchCounts(40, 0, 0)
FAILING = LaunchCounts(20, 20, 0)
WEDGED, UNWEDGED = LaunchCounts(0, 1, 0), LaunchCounts(1, 0, 0)


def test_an_arm_without_runs_is_open() -> None:
    assert standing_of([], [CLEAN], RULE) is Standing.OPEN


def test_half_of_the_sessions_corrupt_flips_at_once_and_a_few_lean() -> None:
    assert standing_of([FAILING], [CLEAN], RULE) is Standing.FLIPS
    assert standing_of([LaunchCounts(34, 6, 0)], [CLEAN], RULE) is Standing.LEANS_TO_FLIP
    assert standing_of([LaunchCounts(39, 1, 0)], [CLEAN], RULE) is Standing.OPEN


def test_nothing_flips_before_there_is_a_clean_run_to_compare_with() -> None:
    assert standing_of([FAILING], [], RULE) is Standing.OPEN


def test_clean_runs_lean_and_then_decide() -> None:
    found = [standing_of([CLEAN] * runs, [CLEAN] * runs, RULE) for runs in (1, 2, 3)]

    assert found == [Standing.OPEN, Standing.LEANS_TO_CLEAN, Standing.CLEAN]


def test_a_stray_corrupt_session_takes_more_runs_and_does_not_end_it() -> None:
    runs = [LaunchCounts(39, 1, 0), *[CLEAN] * 8]

    assert standing_of(runs[:3], [CLEAN] * 3, RULE) is not Standing.CLEAN
    assert standing_of(runs, [CLEAN] * 9, RULE) is Standing.CLEAN


def test_silent_sessions_speak_for_nothing() -> None:
    silent = [LaunchCounts(0, 0, 40)] * 3

    assert standing_of(silent, [CLEAN] * 3, RULE) is Standing.OPEN
    assert clean_e_value([*silent, CLEAN], RULE) == clean_e_value([CLEAN], RULE)


def test_silence_of_the_clean_arm_counts_at_its_worst_where_it_is_asked_for() -> None:
    half_silent = [LaunchCounts(20, 0, 20)]
    at_worst = StandingRule(silent_at_worst=True)

    assert standing_of([FAILING], half_silent, RULE) is Standing.FLIPS
    assert standing_of([FAILING], half_silent, at_worst) is not Standing.FLIPS


def test_more_decisions_need_more_evidence() -> None:
    runs = [CLEAN] * 3
    shared = StandingRule(decisions=8)

    assert standing_of(runs, runs, RULE) is Standing.CLEAN
    assert standing_of(runs, runs, shared) is Standing.LEANS_TO_CLEAN


def test_an_arm_that_stays_in_between_is_undecided_after_as_many_runs_as_are_allowed() -> None:
    some = LaunchCounts(39, 1, 0)
    rule = StandingRule(most_runs=3)

    assert standing_of([some] * 3, [some] * 3, rule) is Standing.UNDECIDED


def test_a_wedge_leans_at_once_and_flips_at_the_third() -> None:
    found = [standing_of([WEDGED] * n, [UNWEDGED] * n, WEDGE_RULE) for n in (1, 2, 3)]

    assert found == [Standing.LEANS_TO_FLIP, Standing.LEANS_TO_FLIP, Standing.FLIPS]


@pytest.mark.parametrize("rule", [RULE, WEDGE_RULE, StandingRule(p_max=0.15)])
@pytest.mark.parametrize("sessions", [1, 24, 80])
def test_evidence_for_clean_is_at_most_one_on_average_where_the_rate_is_too_high(
    rule: StandingRule, sessions: int
) -> None:
    """The expectation under each rate from p_max on, summed over the counts: an e-value."""
    values = [clean_e_value([LaunchCounts(sessions - k, k, 0)], rule) for k in range(sessions + 1)]
    rates = np.linspace(rule.p_max, 0.95, 20)

    for rho in (0.0, 0.02, rule.rho_max):
        laws = beta_binomial_pmf(sessions, rates, rho=rho)
        assert (laws @ np.array(values)).max() <= 1 + 1e-9


@given(st.integers(1, 100), st.floats(0.001, 0.04), st.floats(0.05, 0.6), st.floats(0, 0.1))
@settings(max_examples=50)
def test_the_stray_ratio_falls_with_the_number_of_events(
    sessions: int, stray_rate: float, p_max: float, rho: float
) -> None:
    ratios = stray_ratios(sessions, stray_rate, p_max, rho)

    assert all(later <= earlier * (1 + 1e-9) for earlier, later in pairwise(ratios))
