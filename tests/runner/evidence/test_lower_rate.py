import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import boschloo_exact, fisher_exact, ttest_ind

from runner.evidence.boschloo import Counted, boschloo_less
from runner.evidence.lower_rate import LowerRateMethod, lower_rate
from runner.evidence.run_rate_test import Cluster, arcsine_rate, run_rate_less, run_rates_vary

AFTER = [Cluster(3, 80), Cluster(2, 80), Cluster(4, 80)]
BEFORE = [Cluster(12, 80), Cluster(14, 80), Cluster(11, 80)]

clusters = st.integers(1, 90).flatmap(lambda n: st.integers(0, n).map(lambda k: Cluster(k, n)))
arms = st.lists(clusters, min_size=1, max_size=4)


@given(
    st.lists(clusters, min_size=2, max_size=6),
    st.lists(clusters, min_size=2, max_size=6),
)
def test_run_rates_are_compared_by_students_test_with_pooled_variance(
    first: list[Cluster], second: list[Cluster]
) -> None:
    a, b = [arcsine_rate(*c) for c in first], [arcsine_rate(*c) for c in second]
    if max(a) - min(a) + max(b) - min(b) < 1e-6:
        return  # no variance to compare with
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # "nearly identical"
        right = ttest_ind(a, b, alternative="less").pvalue

    assert run_rate_less(first, second) == pytest.approx(right, abs=1e-8)


def test_two_runs_an_arm_take_the_larger_of_two_p_values() -> None:
    result = lower_rate(AFTER, BEFORE, rho=0.02)

    assert result.method is LowerRateMethod.SESSIONS_AND_RUNS
    exact = boschloo_exact([[9, 37], [231, 203]], alternative="less").pvalue
    assert exact < 1e-5
    assert result.p == pytest.approx(4.871e-4, rel=1e-3)  # of the run rates, computed elsewhere


def test_equal_runs_leave_the_decision_to_the_sessions() -> None:
    result = lower_rate([Cluster(60, 80)] * 2, [Cluster(68, 80)] * 2, rho=0.02)

    assert result.p == pytest.approx(boschloo_less(Counted(120, (160,)), Counted(136, (160,))))


def test_a_single_run_is_compared_at_the_declared_correlation() -> None:
    result = lower_rate([Cluster(0, 80)], [Cluster(12, 80)], rho=0.05)

    assert result.method is LowerRateMethod.CORRELATED_SESSIONS
    assert result.p == pytest.approx(0.04920049592, abs=1e-9)


def test_from_six_runs_an_arm_on_the_run_rates_decide() -> None:
    after, before = [Cluster(k, 80) for k in (9, 8, 10, 7, 9, 8)], [Cluster(9, 80)] * 6

    result = lower_rate(after, before, rho=0.02)

    assert result.method is LowerRateMethod.RUN_RATES
    assert result.p == run_rate_less(after, before)


def test_an_arm_without_evidence_shows_nothing() -> None:
    assert lower_rate([Cluster(0, 0)], BEFORE, rho=0.05).p == 1.0


@settings(deadline=None, max_examples=30)
@given(arms, arms)
def test_both_directions_are_never_claimed_at_once(
    first: list[Cluster], second: list[Cluster]
) -> None:
    p_lower = lower_rate(first, second, rho=0.05).p
    p_higher = lower_rate(second, first, rho=0.05).p

    assert max(p_lower, p_higher) > 0.2


def test_run_rates_need_two_runs() -> None:
    with pytest.raises(ValueError, match="two runs"):
        run_rate_less([Cluster(0, 80)], BEFORE)


def test_six_runs_that_are_all_alike_leave_no_more_certainty_than_their_sessions() -> None:
    one, none = [Cluster(1, 80)] * 6, [Cluster(0, 80)] * 6

    right = fisher_exact([[0, 480], [6, 474]], alternative="less").pvalue
    assert lower_rate(none, one, rho=0.02).p == pytest.approx(right) == pytest.approx(0.01538, 1e-3)
    assert lower_rate(one, none, rho=0.02).p == 1.0
    assert lower_rate(none, none, rho=0.02).p == 1.0


def test_six_runs_that_differ_by_one_session_are_told_apart_by_their_rates_alone() -> None:
    first, second = (
        [Cluster(k, 80) for k in (0, 0, 0, 0, 0, 1)],
        [Cluster(k, 80) for k in (1, 1, 1, 1, 1, 2)],
    )
    scaled = [[arcsine_rate(*c) for c in each] for each in (first, second)]

    assert lower_rate(first, second, rho=0.02).p == pytest.approx(
        ttest_ind(*scaled, alternative="less").pvalue
    )


def test_the_scaled_rate_is_that_of_anscombe() -> None:
    # asin(sqrt(0.375 / 80.75)) and asin(sqrt(12.375 / 80.75)) as math.asin and math.sqrt give them
    assert arcsine_rate(0, 80) == pytest.approx(0.0681995, abs=1e-6)
    assert arcsine_rate(12, 80) == pytest.approx(0.4022313, abs=1e-6)


def test_runs_vary_where_those_of_either_arm_do() -> None:
    alike, unlike = [Cluster(1, 80)] * 3, [Cluster(1, 80), Cluster(1, 80), Cluster(2, 80)]

    assert not run_rates_vary(alike, [Cluster(9, 80)] * 3)
    assert run_rates_vary(alike, unlike) and run_rates_vary(unlike, alike)


def test_runs_that_are_all_alike_leave_the_order_of_their_rates() -> None:
    low, high = [Cluster(1, 80)] * 2, [Cluster(9, 80)] * 2

    p_values = [run_rate_less(*arms) for arms in ((low, high), (high, low), (low, low))]

    assert p_values == [0.0, 1.0, 0.5]


def test_a_run_of_one_session_is_a_run_and_one_of_none_is_not() -> None:
    after, before = [Cluster(0, 1), Cluster(0, 80)], [Cluster(12, 80), Cluster(14, 80)]

    assert lower_rate(after, before, rho=0.02).method is LowerRateMethod.SESSIONS_AND_RUNS
    none = [Cluster(0, 0), *after[1:]]
    assert lower_rate(none, before, rho=0.02).method is LowerRateMethod.CORRELATED_SESSIONS
