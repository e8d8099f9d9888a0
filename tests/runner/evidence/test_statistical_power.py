import numpy as np
import pytest
from statsmodels.stats.proportion import samplesize_proportions_2indep_onetail

from runner.evidence.boschloo import Counted, boschloo_less
from runner.evidence.lower_rate import lower_rate
from runner.evidence.run_rate_test import Cluster
from runner.evidence.statistical_power import (
    critical_bounds,
    exact_power,
    normal_sessions_needed,
    run_power,
    runs_guess,
    sessions_needed,
)


# Sessions per arm of the exact test for 80 % and 90 %, computed elsewhere.
@pytest.mark.parametrize(
    ("before", "after", "for_80", "for_90"),
    [(0.15, 0.06, 148, 205), (0.15, 0.03, 71, 95), (0.15, 0.0, 36, 43), (0.17, 0.0, 32, 38)],
)
def test_the_sessions_that_an_effect_needs_are_as_published(
    before: float, after: float, for_80: int, for_90: int
) -> None:
    assert sessions_needed(before, after).kept == for_80
    assert sessions_needed(before, after, power=0.9).kept == for_90


def test_where_power_is_saw_toothed_both_numbers_are_told() -> None:
    for_80, for_90 = sessions_needed(0.06, 0.0), sessions_needed(0.06, 0.0, power=0.9)

    assert (for_80.reached, for_80.kept) == (91, 102)
    assert for_90.reached == 110
    dip = exact_power(0.06, 0.0, n_before=98, n_after=98)
    assert dip < 0.8 < exact_power(0.06, 0.0, n_before=for_80.kept, n_after=for_80.kept)


@pytest.mark.parametrize(("before", "after"), [(0.15, 0.06), (0.15, 0.0), (0.5, 0.2)])
def test_the_closed_form_is_that_of_statsmodels(before: float, after: float) -> None:
    right = samplesize_proportions_2indep_onetail(
        before - after, after, 0.8, alpha=0.05, alternative="larger"
    )

    assert normal_sessions_needed(before, after) == pytest.approx(right, rel=1e-6)


def test_small_differences_are_given_by_the_closed_form_and_say_so() -> None:
    needed = sessions_needed(0.15, 0.13)

    assert not needed.exact
    assert needed.kept == pytest.approx(normal_sessions_needed(0.15, 0.13), abs=1)


def test_rates_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(ValueError, match="lower rate"):
        sessions_needed(0.06, 0.15)


@pytest.mark.parametrize("rho", [0.0, 0.05])
def test_the_critical_region_is_where_the_test_rejects(rho: float) -> None:
    bounds = critical_bounds((30,), (25,), 0.05, rho)

    for x2 in range(26):
        rejected = [
            boschloo_less(Counted(x1, (30,)), Counted(x2, (25,)), rho=rho) <= 0.05
            for x1 in range(31)
        ]
        assert sum(rejected) == bounds[x2]


# Power of the verdict's own test with runs of 80, simulated elsewhere.
@pytest.mark.parametrize(
    ("after", "runs", "rho", "power"),
    [
        (0.06, 2, 0.0, 0.52),
        (0.06, 2, 0.02, 0.31),
        (0.06, 3, 0.0, 0.84),
        (0.06, 3, 0.05, 0.38),
        (0.06, 4, 0.05, 0.49),
        (0.0, 2, 0.02, 0.91),
        (0.0, 2, 0.05, 0.76),
        (0.0, 3, 0.05, 0.965),
    ],
)
def test_the_power_of_repeated_runs_is_as_published(
    after: float, runs: int, rho: float, power: float
) -> None:
    found = run_power(
        0.15,
        after,
        runs_before=runs,
        runs_after=runs,
        sessions=80,
        rho=rho,
        rng=np.random.default_rng(2),
        campaigns=20_000,
    )

    assert found == pytest.approx(power, abs=0.025)


@pytest.mark.parametrize("runs", [2, 3, 4])
@pytest.mark.parametrize("rho", [0.0, 0.02, 0.05])
def test_arms_that_do_not_differ_are_told_apart_no_more_often_than_alpha(
    runs: int, rho: float
) -> None:
    for rate in (0.06, 0.15):
        false = run_power(
            rate,
            rate,
            runs_before=runs,
            runs_after=runs,
            sessions=80,
            rho=rho,
            rng=np.random.default_rng(4),
            campaigns=20_000,
        )
        assert false <= 0.056  # four standard errors of the simulation above 0.05


def test_single_runs_at_the_declared_correlation_keep_their_level() -> None:
    for rho in (0.0, 0.02, 0.05):
        false = run_power(
            0.15,
            0.15,
            runs_before=1,
            runs_after=1,
            sessions=80,
            rho=rho,
            rng=np.random.default_rng(6),
            campaigns=20_000,
        )
        assert false <= 0.056


@pytest.mark.parametrize(("runs_after", "runs_before"), [(1, 1), (1, 3), (2, 3), (6, 6)])
def test_the_simulated_rule_is_the_rule_of_the_verdict(runs_after: int, runs_before: int) -> None:
    """One simulated campaign at a time, against the same counts judged one by one."""
    agreed = 0
    for seed in range(20):
        found = run_power(
            0.2,
            0.08,
            runs_before=runs_before,
            runs_after=runs_after,
            sessions=40,
            rho=0.0,
            rng=np.random.default_rng(seed),
            campaigns=1,
        )
        rng = np.random.default_rng(seed)
        after = rng.binomial(40, 0.08, (1, runs_after))[0]
        before = rng.binomial(40, 0.2, (1, runs_before))[0]
        clusters = [[Cluster(int(k), 40) for k in arm] for arm in (after, before)]
        agreed += bool(found) == (lower_rate(clusters[0], clusters[1], rho=0.05).p <= 0.05)

    assert agreed == 20


def test_the_design_effect_tells_where_to_start_looking() -> None:
    assert runs_guess(148, sessions=80, rho=0.0) == 3
    assert runs_guess(148, sessions=80, rho=0.05) == 11


def test_runs_of_thousands_of_sessions_are_simulated_without_tables() -> None:
    def power(after: float) -> float:
        return run_power(
            0.02,
            after,
            runs_before=2,
            runs_after=2,
            sessions=5_000,
            rho=0.0,
            rng=np.random.default_rng(3),
        )

    assert power(0.02) <= 0.06
    assert power(0.01) > 0.9
