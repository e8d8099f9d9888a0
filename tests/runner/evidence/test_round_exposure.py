import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.rates import confint_poisson_2indep
from statsmodels.stats.rates import test_poisson_2indep as poisson_2indep

from runner.evidence.round_exposure import (
    RoundExposure,
    exposure_less,
    exposure_limits,
    exposure_ratio_limits,
    session_rate_of,
)

exposures = st.builds(RoundExposure, st.integers(1, 60), st.integers(100, 5000))


@settings(max_examples=25, deadline=None)
@given(exposures, exposures)
def test_test_and_interval_equal_those_of_statsmodels(
    first: RoundExposure, second: RoundExposure
) -> None:
    cells = first.corrupt, first.rounds, second.corrupt, second.rounds
    right = poisson_2indep(*cells, method="exact-cond", alternative="smaller").pvalue
    limits = confint_poisson_2indep(*cells, method="score", compare="ratio")

    assert exposure_less(first, second) == pytest.approx(right, abs=1e-9)
    assert exposure_ratio_limits(first, second) == pytest.approx(limits, rel=1e-4)


def test_an_arm_that_saw_nothing_has_an_upper_limit_per_round() -> None:
    limits = exposure_limits(RoundExposure(0, 1000))

    assert limits == pytest.approx((0.0, 0.003688879), abs=1e-9)
    assert exposure_ratio_limits(RoundExposure(0, 900), RoundExposure(12, 900)).low == 0.0
    assert exposure_ratio_limits(RoundExposure(3, 900), RoundExposure(0, 900)).high == float("inf")
    assert exposure_ratio_limits(RoundExposure(0, 9), RoundExposure(0, 9)) == (0.0, float("inf"))


def test_rounds_at_risk_stay_right_when_a_wedge_ends_nearly_every_session() -> None:
    """Eighty sessions of 14 rounds at a true 15 %; what still runs at a wedge is silent."""
    rng = np.random.default_rng(5)
    hazard = 1 - 0.85 ** (1 / 14)
    corrupt_at = rng.geometric(hazard, size=(4000, 80))
    cut_at = 3  # rounds; no clean session has ended by then
    corrupt = (corrupt_at <= cut_at).sum()
    rounds = np.minimum(corrupt_at, cut_at).sum()

    rate = session_rate_of(RoundExposure(int(corrupt), int(rounds)), rounds_a_session=14)

    assert corrupt / (4000 * 80) < 0.05  # the naive rate
    assert rate == pytest.approx(0.15, abs=0.005)


def test_the_rate_is_given_per_thousand_rounds() -> None:
    assert RoundExposure(5, 2500).per_thousand == 2.0
