import pytest

from runner.evidence.boschloo import Counted, boschloo_less
from runner.evidence.run_rate_test import Cluster
from runner.evidence.session_correlation import (
    assumed_rho,
    design_effect,
    icc_anova,
    tipping_rho,
)


def test_baseline_runs_of_the_real_case_show_no_correlation() -> None:
    icc = icc_anova([[Cluster(12, 80), Cluster(11, 60), Cluster(10, 80)]])

    assert icc == pytest.approx(-0.00757598, abs=1e-8)


def test_runs_that_differ_wildly_show_it() -> None:
    assert icc_anova([[Cluster(0, 80), Cluster(80, 80)]]) == pytest.approx(1.0)
    assert icc_anova([[Cluster(2, 80), Cluster(30, 80)]]) == pytest.approx(0.3127, abs=1e-4)


def test_arms_are_pooled_within_and_a_gap_between_them_is_no_correlation() -> None:
    icc = icc_anova([[Cluster(0, 80)] * 2, [Cluster(80, 80)] * 2])

    assert icc == 0.0


def test_single_runs_say_nothing() -> None:
    assert icc_anova([[Cluster(5, 80)], [Cluster(12, 80)]]) is None
    assert icc_anova([[Cluster(5, 80), Cluster(0, 0)]]) is None


def test_an_estimate_raises_what_is_assumed_and_never_lowers_it() -> None:
    assert assumed_rho(-0.01, repeated=True) == 0.02
    assert assumed_rho(0.3, repeated=True) == 0.3
    assert assumed_rho(None, repeated=False) == 0.05


@pytest.mark.parametrize(
    ("after", "before", "tipping"),
    [
        (Counted(0, (80,)), Counted(12, (80,)), 0.051),
        (Counted(0, (80, 80)), Counted(24, (80, 80)), 0.126),
        (Counted(0, (80,) * 3), Counted(36, (80,) * 3), 0.20),
        (Counted(5, (80,)), Counted(12, (80,)), 0.0003),
    ],
)
def test_the_tipping_correlation_is_the_published_one(
    after: Counted, before: Counted, tipping: float
) -> None:
    rho = tipping_rho(after, before, alpha=0.05)

    assert rho == pytest.approx(tipping, abs=max(0.1 * tipping, 5e-5) if tipping < 0.01 else 3e-3)
    assert rho is not None and boschloo_less(after, before, rho=rho) == pytest.approx(
        0.05, abs=1e-4
    )


def test_a_claim_that_independence_does_not_carry_has_no_tipping_point() -> None:
    assert tipping_rho(Counted(10, (80,)), Counted(12, (80,)), alpha=0.05) is None


def test_the_design_effect_of_a_run() -> None:
    assert [design_effect(80, rho) for rho in (0.0, 0.02, 0.05)] == pytest.approx([1, 2.58, 4.95])
