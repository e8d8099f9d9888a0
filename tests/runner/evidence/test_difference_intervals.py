import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep

from runner.evidence.difference_intervals import (
    agresti_caffo_difference,
    mee_difference,
    miettinen_nurminen_difference,
    newcombe_difference,
)
from runner.evidence.rates import Rate
from runner.evidence.ratio_intervals import katz_ratio, koopman_ratio

rates = st.integers(1, 200).flatmap(
    lambda of: st.integers(0, of).map(lambda count: Rate(count, of))
)
DIFFERENCES = (
    newcombe_difference,
    agresti_caffo_difference,
    miettinen_nurminen_difference,
    mee_difference,
)


@given(rates, rates)
def test_newcombe_and_agresti_caffo_equal_those_of_statsmodels(first: Rate, second: Rate) -> None:
    cells = first.count, first.of, second.count, second.of
    newcombe = confint_proportions_2indep(*cells, method="newcomb", compare="diff")
    caffo = confint_proportions_2indep(*cells, method="agresti-caffo", compare="diff")

    assert newcombe_difference(first, second) == pytest.approx(newcombe, abs=1e-9)
    cut = [max(-1.0, caffo[0]), min(1.0, caffo[1])]
    assert agresti_caffo_difference(first, second) == pytest.approx(cut, abs=1e-9)


@given(rates, rates)
def test_swapping_the_arms_mirrors_the_interval(first: Rate, second: Rate) -> None:
    for interval in DIFFERENCES:
        low, high = interval(first, second)
        assert interval(second, first) == pytest.approx((-high, -low), abs=1e-9)


@given(rates, rates)
def test_the_interval_holds_the_difference_and_stays_in_range(first: Rate, second: Rate) -> None:
    difference = first.value - second.value
    for interval in (newcombe_difference, miettinen_nurminen_difference, mee_difference):
        low, high = interval(first, second)
        assert -1.0 <= low <= difference + 1e-12 and difference - 1e-12 <= high <= 1.0


@given(rates, rates)
def test_the_factor_of_miettinen_and_nurminen_widens(first: Rate, second: Rate) -> None:
    wide, narrow = miettinen_nurminen_difference(first, second), mee_difference(first, second)

    assert wide.low <= narrow.low + 1e-9 and wide.high >= narrow.high - 1e-9


def test_the_table_on_which_a_library_fails_has_an_interval() -> None:
    # statsmodels 0.15 raises ValueError for the score interval here (its issue 10269).
    interval = miettinen_nurminen_difference(Rate(0, 80), Rate(12, 80))

    assert interval == pytest.approx((-0.24447232, -0.08779279), abs=1e-8)


@given(rates, rates)
def test_a_ratio_has_the_reciprocal_interval_when_the_arms_swap(first: Rate, second: Rate) -> None:
    low, high = koopman_ratio(first, second)
    swapped = koopman_ratio(second, first)

    assert swapped.high == pytest.approx(float("inf") if low == 0 else 1 / low, rel=1e-6)
    assert swapped.low == pytest.approx(1 / high, rel=1e-6)


@given(rates, rates)
def test_a_ratio_of_counts_that_are_not_zero_is_inside_both_intervals(
    first: Rate, second: Rate
) -> None:
    katz = katz_ratio(first, second)
    if first.count == 0 or second.count == 0:
        assert katz is None
        return
    ratio = first.value / second.value
    low, high = koopman_ratio(first, second)
    assert low <= ratio * (1 + 1e-9) and ratio <= high * (1 + 1e-9)
    assert katz is not None and katz.low <= ratio * (1 + 1e-9) <= katz.high * (1 + 2e-9)


def test_a_ratio_over_nothing_seen_has_no_upper_limit() -> None:
    assert koopman_ratio(Rate(12, 80), Rate(0, 80)).high == float("inf")
    assert koopman_ratio(Rate(0, 80), Rate(0, 80)) == (0.0, float("inf"))
