import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from runner.evidence.dose_response import dose_response, dose_sentence, rising_rates
from runner.evidence.silent_sessions import LaunchCounts


def runs(*corrupt: int, size: int = 80) -> list[LaunchCounts]:
    return [LaunchCounts(size - k, k, 0) for k in corrupt]


def test_a_rise_with_concurrency_is_told_with_its_counts() -> None:
    response = dose_response({80: runs(12, 14, 11), 1: runs(0, 0, 0, size=20), 40: runs(2, 3, 1)})

    assert response.rises
    assert dose_sentence(response) == (
        "Corruption rises with concurrency: 0 of 60 at 1, 6 of 240 at 40, 37 of 240 at 80 "
        "(p = 9 × 10⁻⁵)."
    )
    lowest = response.lowest_with_corruption
    assert lowest is not None and lowest.concurrency == 40


def test_a_fall_in_between_is_no_rise() -> None:
    response = dose_response({1: runs(0, 0, 0), 40: runs(30, 31, 29), 80: runs(10, 11, 9)})

    assert response.p_rise < 0.05 and not response.rises
    assert "Not shown that corruption depends" in dose_sentence(response)


def test_no_corruption_anywhere_says_what_stays_open_at_the_highest() -> None:
    response = dose_response({1: runs(0), 80: runs(0)})

    assert response.lowest_with_corruption is None
    assert "at 80 up to 9.2" in dose_sentence(response)


def test_silence_hides_a_rise() -> None:
    silent = [LaunchCounts(20, 0, 60)] * 3

    assert not dose_response({1: silent, 80: runs(12, 14, 11)}).rises


def test_one_level_is_no_response() -> None:
    with pytest.raises(ValueError, match="two concurrencies"):
        dose_response({1: [], 80: runs(3)})


@given(
    st.lists(
        st.integers(1, 90).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))),
        min_size=1,
        max_size=8,
    )
)
def test_smoothed_rates_are_the_isotonic_regression(counts: list[tuple[int, int]]) -> None:
    rates = np.array([k / n for k, n in counts])
    weights = np.array([float(n) for _, n in counts])
    right = isotonic_regression(rates, weights=weights).x

    assert rising_rates(counts) == pytest.approx(right, abs=1e-9)
