import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.evidence.clustered_limits import (
    clustered_lower_limit,
    clustered_upper_limit,
    probability_at_least,
)
from runner.evidence.proportion_limits import exact_lower_limit, exact_upper_limit, zero_upper_limit
from runner.evidence.rates import Rate

runs = st.lists(st.integers(1, 60), min_size=1, max_size=3)
correlations = st.floats(0.001, 0.5)


def test_one_run_of_eighty_excludes_less_the_more_its_sessions_resemble_each_other() -> None:
    limits = [clustered_upper_limit(0, [80], rho=rho) for rho in (0.0, 0.01, 0.02, 0.05, 0.1)]

    assert [round(limit, 3) for limit in limits] == [0.037, 0.05, 0.061, 0.092, 0.138]


def test_silence_that_two_clean_runs_bear_is_as_published() -> None:
    limits = [clustered_upper_limit(k, [80, 80], rho=0.02) for k in range(3)]

    assert [round(limit, 3) for limit in limits] == [0.031, 0.045, 0.056]


@given(runs, st.data())
def test_without_correlation_the_runs_do_not_matter(sizes: list[int], data: st.DataObject) -> None:
    k = data.draw(st.integers(0, sum(sizes)))

    rate = Rate(k, sum(sizes))
    assert clustered_upper_limit(k, sizes, rho=0.0) == exact_upper_limit(rate)
    assert clustered_lower_limit(k, sizes, rho=0.0) == exact_lower_limit(rate)


@settings(deadline=None, max_examples=40)
@given(runs, correlations, st.data())
def test_limits_enclose_the_rate_and_rise_with_the_count(
    sizes: list[int], rho: float, data: st.DataObject
) -> None:
    k = data.draw(st.integers(0, sum(sizes)))
    upper = clustered_upper_limit(k, sizes, rho=rho)
    lower = clustered_lower_limit(k, sizes, rho=rho)

    if k < sum(sizes):
        assert clustered_upper_limit(k + 1, sizes, rho=rho) > upper
        assert clustered_lower_limit(k + 1, sizes, rho=rho) > lower
        # By definition: at the limit, so few are as improbable as alpha.
        assert 1 - probability_at_least(k + 1, sizes, rate=upper, rho=rho) == pytest.approx(
            0.05, abs=1e-8
        )
    if k:
        assert probability_at_least(k, sizes, rate=lower, rho=rho) == pytest.approx(0.05, abs=1e-8)


@settings(deadline=None, max_examples=40)
@given(runs, correlations, st.data())
def test_upper_and_lower_limits_are_mirror_images(
    sizes: list[int], rho: float, data: st.DataObject
) -> None:
    k = data.draw(st.integers(0, sum(sizes)))

    assert clustered_lower_limit(sum(sizes) - k, sizes, rho=rho) == pytest.approx(
        1 - clustered_upper_limit(k, sizes, rho=rho), abs=1e-9
    )


@settings(deadline=None, max_examples=40)
@given(runs, correlations, st.integers(1, 40))
def test_more_clean_sessions_lower_the_limit(sizes: list[int], rho: float, more: int) -> None:
    limit = clustered_upper_limit(0, sizes, rho=rho)

    assert clustered_upper_limit(0, [*sizes, more], rho=rho) < limit
    assert clustered_upper_limit(0, [sizes[0] + more, *sizes[1:]], rho=rho) < limit
    assert limit >= zero_upper_limit(sum(sizes)) - 1e-12


def test_counts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        clustered_upper_limit(9, [4, 4], rho=0.05)
    with pytest.raises(ValueError, match="do not fit"):
        clustered_upper_limit(0, [], rho=0.05)
