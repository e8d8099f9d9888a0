from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import boschloo_exact, hypergeom

from runner.evidence.boschloo import (
    Counted,
    boschloo_less,
    boschloo_two_sided,
    fisher_ordering,
    large_sample_less,
    region_bounds,
    region_probability,
)


def arm(corrupt: int, *sizes: int) -> Counted:
    return Counted(corrupt, sizes)


sizes_of_arms = st.lists(st.integers(1, 30), min_size=1, max_size=3)
arms = sizes_of_arms.flatmap(
    lambda sizes: st.integers(0, sum(sizes)).map(lambda k: Counted(k, tuple(sizes)))
)
correlations = st.sampled_from([0.0, 0.02, 0.05, 0.3])


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 25), st.integers(1, 25), st.data())
def test_without_correlation_it_is_the_test_of_scipy(n1: int, n2: int, data: st.DataObject) -> None:
    x1, x2 = data.draw(st.integers(0, n1)), data.draw(st.integers(0, n2))
    right = boschloo_exact([[x1, x2], [n1 - x1, n2 - x2]], alternative="less", n=64)

    assert boschloo_less(arm(x1, n1), arm(x2, n2)) == pytest.approx(right.pvalue, abs=2e-6)


def test_the_ordering_is_the_p_value_of_fisher() -> None:
    ordering = fisher_ordering(23, 17)

    for x1 in range(24):
        for x2 in range(18):
            right = hypergeom.cdf(x1, 40, x1 + x2, 23)
            assert ordering[x1, x2] == pytest.approx(right, rel=1e-9)


@given(st.integers(1, 40), st.integers(1, 40))
def test_fishers_p_value_rises_with_the_first_and_falls_with_the_second_count(
    n1: int, n2: int
) -> None:
    ordering = fisher_ordering(n1, n2)

    assert (np.diff(ordering, axis=0) >= -1e-12).all()
    assert (np.diff(ordering, axis=1) <= 1e-12).all()


def test_all_tables_one_apart_are_tied_whatever_the_rounding() -> None:
    # Fisher's p of k against k + 1 of equal arms is exactly 1/2 for every k.
    p_values = {round(boschloo_less(arm(k, 40), arm(k + 1, 40)), 12) for k in range(40)}

    assert len(p_values) == 1


@settings(deadline=None, max_examples=40)
@given(arms, arms, correlations)
def test_one_corrupt_session_more_never_makes_the_first_arm_look_better(
    first: Counted, second: Counted, rho: float
) -> None:
    p = boschloo_less(first, second, rho=rho)

    if first.corrupt < first.n:
        worse = Counted(first.corrupt + 1, first.run_sizes)
        assert boschloo_less(worse, second, rho=rho) >= p - 1e-9
    if second.corrupt < second.n:
        worse = Counted(second.corrupt + 1, second.run_sizes)
        assert boschloo_less(first, worse, rho=rho) <= p + 1e-9


@settings(deadline=None, max_examples=40)
@given(arms, arms, correlations)
def test_swapping_arms_and_outcomes_together_changes_nothing(
    first: Counted, second: Counted, rho: float
) -> None:
    def turned(each: Counted) -> Counted:
        return Counted(each.n - each.corrupt, each.run_sizes)

    assert boschloo_less(turned(second), turned(first), rho=rho) == pytest.approx(
        boschloo_less(first, second, rho=rho), abs=1e-9
    )


@settings(deadline=None, max_examples=40)
@given(arms, arms, correlations)
def test_the_two_sides_are_never_both_small(first: Counted, second: Counted, rho: float) -> None:
    less, greater = (
        boschloo_less(first, second, rho=rho),
        boschloo_less(second, first, rho=rho),
    )

    assert max(less, greater) > 0.2
    assert boschloo_two_sided(first, second, rho=rho) == min(1.0, 2 * min(less, greater))


@pytest.mark.parametrize("rho", [0.0, 0.02, 0.05, 0.3])
def test_its_level_holds_at_every_shared_rate(rho: float) -> None:
    """By enumeration: the region of p <= 0.05 has no more than that, under its own law."""
    sizes = 20, 24
    p = np.array(
        [[boschloo_less(arm(x1, 20), arm(x2, 24), rho=rho) for x2 in range(25)] for x1 in range(21)]
    )
    ordering = fisher_ordering(*sizes)
    level = ordering[p <= 0.05].max()
    rates = np.linspace(0, 1, 501)
    size = region_probability(region_bounds(ordering, level), (20,), (24,), rates, rho=rho)

    assert size.max() <= 0.05
    assert size.max() > 0.005


def test_correlation_weakens_a_claim_and_more_runs_restore_it() -> None:
    single = [boschloo_less(arm(0, 80), arm(12, 80), rho=rho) for rho in (0.0, 0.02, 0.05, 0.15)]
    spread = boschloo_less(arm(0, 80, 80), arm(24, 80, 80), rho=0.05)

    assert all(earlier < later for earlier, later in pairwise(single))
    assert spread < single[2]


# Size and power of the level 0.05 test by an independent enumeration.
@pytest.mark.parametrize(
    ("n", "size", "to_006", "to_0", "low_to_0"),
    [(40, 0.049, 0.34, 0.87, 0.22), (80, 0.049, 0.56, 0.999, 0.71)],
)
def test_size_and_power_are_those_enumerated_elsewhere(
    n: int, size: float, to_006: float, to_0: float, low_to_0: float
) -> None:
    ordering = fisher_ordering(n, n)
    most = 40
    rejected = np.zeros_like(ordering, dtype=bool)
    for x2 in range(most):
        for x1 in range(x2):
            if boschloo_less(arm(x1, n), arm(x2, n)) > 0.05:
                break
            rejected[x1, x2] = True
    bounds = rejected.sum(axis=0)

    def power(p1: float, p2: float) -> float:
        return float(
            region_probability(
                bounds, (n,), (n,), np.array([p1]), rho=0.0, second_rates=np.array([p2])
            )[0]
        )

    low_rates = np.linspace(0, 0.3, 301)
    assert region_probability(bounds, (n,), (n,), low_rates, rho=0.0).max() == pytest.approx(
        size, abs=2e-3
    )
    assert power(0.06, 0.15) == pytest.approx(to_006, abs=0.006)
    assert power(0.0, 0.15) == pytest.approx(to_0, abs=0.006)
    assert power(0.0, 0.06) == pytest.approx(low_to_0, abs=0.006)


def test_arms_too_large_for_tables_are_answered_at_once_and_nearly_as_exactly() -> None:
    for first, second in (
        (arm(60, 1500), arm(90, 1500)),
        (arm(60, *[100] * 15), arm(110, *[100] * 15)),
    ):
        for rho in (0.0, 0.02):
            exact = boschloo_less(first, second, rho=rho)
            assert large_sample_less(first, second, rho=rho) == pytest.approx(exact, rel=0.35)
    huge = boschloo_less(arm(3, 1_000_000), arm(20, 1_000_000), rho=0.0)
    assert huge == pytest.approx(2.4e-4, rel=0.1)
    assert boschloo_less(arm(0, 500_000), arm(0, 500_000)) == 1.0
