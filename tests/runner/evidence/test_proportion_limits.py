import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from runner.evidence.proportion_limits import (
    clopper_pearson,
    exact_lower_limit,
    exact_upper_limit,
    jeffreys,
    zero_upper_limit,
)
from runner.evidence.rates import Rate

rates = st.integers(1, 300).flatmap(
    lambda of: st.integers(0, of).map(lambda count: Rate(count, of))
)


@given(rates)
def test_exact_and_jeffreys_limits_equal_those_of_statsmodels(rate: Rate) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = proportion_confint(rate.count, rate.of, method="beta")
        bayes = proportion_confint(rate.count, rate.of, method="jeffreys")

    assert clopper_pearson(rate) == pytest.approx(exact, abs=1e-9)
    inner = [bayes[0] if rate.count else 0.0, bayes[1] if rate.count < rate.of else 1.0]
    assert jeffreys(rate) == pytest.approx(inner, abs=1e-9)


def test_zero_failures_show_an_upper_bound() -> None:
    assert zero_upper_limit(59) == pytest.approx(0.04951, abs=5e-6)
    assert exact_upper_limit(Rate(0, 59)) == zero_upper_limit(59)
    # The rule of three is its approximation from above.
    assert zero_upper_limit(60) < 3 / 60


def test_the_one_sided_limit_is_an_end_of_the_wider_two_sided_interval() -> None:
    assert exact_upper_limit(Rate(5, 80)) == pytest.approx(clopper_pearson(Rate(5, 80), 0.90).high)
    assert exact_lower_limit(Rate(5, 80)) == pytest.approx(clopper_pearson(Rate(5, 80), 0.90).low)


@given(rates)
def test_limits_hold_the_estimate_and_are_mirrored_with_the_outcomes(rate: Rate) -> None:
    mirrored = Rate(rate.of - rate.count, rate.of)
    for interval in (clopper_pearson, jeffreys):
        low, high = interval(rate)
        assert 0.0 <= low <= rate.value <= high <= 1.0
        assert interval(mirrored) == pytest.approx((1 - high, 1 - low), abs=1e-9)


@given(rates)
def test_clopper_pearson_is_never_narrower_than_the_wilson_interval_in_coverage(rate: Rate) -> None:
    wide, narrow = clopper_pearson(rate, 0.99), clopper_pearson(rate, 0.90)

    assert wide.low <= narrow.low and wide.high >= narrow.high


def test_no_sessions_exclude_no_rate() -> None:
    with pytest.raises(ValueError, match="no sessions"):
        zero_upper_limit(0)
