import pytest

from runner.evidence.number_words import (
    confidence_text,
    counted_text,
    e_text,
    p_text,
    points_text,
    rho_text,
    share_text,
)
from runner.evidence.rates import Interval


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (1.0, "p = 1"),
        (0.9999, "p > 0.99"),
        (0.8003, "p = 0.80"),
        (0.0492, "p = 0.0492"),
        (0.0201, "p = 0.020"),
        (0.0004871, "p = 5 × 10⁻⁴"),
        (7.861e-13, "p = 8 × 10⁻¹³"),
        (9.7e-5, "p = 1 × 10⁻⁴"),
        (0.0, "p < 10⁻³⁰⁰"),
    ],
)
def test_p_values_keep_one_leading_digit_and_more_near_alpha(p: float, text: str) -> None:
    assert p_text(p) == text


@pytest.mark.parametrize(
    ("rate", "text"),
    [
        (0.0625, "6.3\u2009%"),
        (0.0, "0\u2009%"),
        (1.0, "100\u2009%"),
        (0.0001, "<0.1\u2009%"),
        (0.9999, ">99.9\u2009%"),
    ],
)
def test_shares_round_half_up_and_never_look_like_none_or_all(rate: float, text: str) -> None:
    assert share_text(rate) == text


def test_differences_carry_their_sign_and_their_interval() -> None:
    assert points_text(-0.117, Interval(-0.181, -0.056)) == "−11.7 points [−18.1 to −5.6]"
    assert points_text(0.05, Interval(-0.01, 0.11)) == "+5.0 points [−1.0 to +11.0]"


def test_small_correlations_keep_their_digits() -> None:
    assert [rho_text(rho) for rho in (0.05, 0.02, 0.1263, 0.000312)] == [
        "0.05",
        "0.02",
        "0.126",
        "0.00031",
    ]


def test_words_for_counts_confidence_and_e_values() -> None:
    assert (counted_text(1, "run"), counted_text(1200, "run")) == ("1 run", "1,200 runs")
    assert (confidence_text(0.95), confidence_text(0.975)) == ("95\u2009%", "97.5\u2009%")
    assert (e_text(31.2), e_text(0.41)) == ("e = 31", "e = 0.4")
