import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.evidence.confidence_sequence import beta_mixture_sequence
from runner.evidence.proportion_limits import clopper_pearson
from runner.evidence.rates import Rate

rates = st.integers(1, 2000).flatmap(
    lambda of: st.integers(0, of).map(lambda count: Rate(count, of))
)


@pytest.mark.parametrize(
    ("corrupt", "sessions", "limits"),
    [(0, 59, (0.0, 0.091)), (12, 80, (0.051, 0.309)), (5, 80, (0.009, 0.190))],
)
def test_it_is_as_wide_as_published(
    corrupt: int, sessions: int, limits: tuple[float, float]
) -> None:
    assert beta_mixture_sequence(corrupt, sessions) == pytest.approx(limits, abs=5e-4)


@given(rates)
def test_it_holds_the_rate_and_is_mirrored_with_the_outcomes(rate: Rate) -> None:
    low, high = beta_mixture_sequence(rate.count, rate.of)

    assert 0.0 <= low <= rate.value <= high <= 1.0
    mirrored = beta_mixture_sequence(rate.of - rate.count, rate.of)
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)


@given(rates.filter(lambda rate: rate.of >= 20))
def test_watching_costs_width(rate: Rate) -> None:
    watched, fixed = beta_mixture_sequence(rate.count, rate.of), clopper_pearson(rate)

    assert watched.high - watched.low >= fixed.high - fixed.low


def test_before_the_first_session_every_rate_is_possible() -> None:
    assert beta_mixture_sequence(0, 0) == (0.0, 1.0)


def test_it_covers_the_rate_at_all_times_at_once() -> None:
    rng = np.random.default_rng(11)
    rate, missed = 0.15, 0
    for _ in range(150):
        corrupt = np.cumsum(rng.random(200) < rate)
        checked = range(5, 200, 5)
        missed += any(
            not low <= rate <= high
            for n in checked
            for low, high in [beta_mixture_sequence(int(corrupt[n]), n + 1)]
        )

    assert missed <= 150 * 0.05
