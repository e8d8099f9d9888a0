"""Rates that carry their n, and Wilson's interval around them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.evidence.rates import Interval, Rate, RateBounds

# Two-sided 95 %: R's prop.test(correct = FALSE), scipy and statsmodels agree on them to 1e-12.
WILSON = [
    (56, 70, 0.691833555037, 0.876952607516),
    (48, 80, 0.490454650052, 0.700381724041),
    (9, 10, 0.595849973205, 0.982123786905),
    (3, 10, 0.107791267406, 0.603221852539),
    (6, 7, 0.486872170726, 0.974320375655),
    (2, 7, 0.082218924004, 0.641065548167),
    (0, 10, 0.000000000000, 0.277532799863),
    (0, 20, 0.000000000000, 0.161125158053),
    (10, 10, 0.722467200137, 1.000000000000),
    (84, 101, 0.746887910814, 0.892172254446),
    (89, 105, 0.766726951606, 0.903973356815),
    (7, 34, 0.103495268990, 0.367983880512),
    (1, 34, 0.005210906276, 0.149155732927),
    (5, 80, 0.026989375671, 0.138101487673),
    (12, 80, 0.087940405062, 0.244132285613),
    (80, 80, 0.954181870464, 1.000000000000),
    (0, 80, 0.000000000000, 0.045818129536),
    (0, 60, 0.000000000000, 0.060171852142),
    (9, 60, 0.080974405802, 0.261145890698),
    (0, 40, 0.000000000000, 0.087621601197),
    (6, 40, 0.070611877173, 0.290723243665),
    (9, 240, 0.019852143314, 0.069720232632),
    (37, 240, 0.113964229877, 0.205265564749),
    (0, 240, 0.000000000000, 0.015753919942),
    (26, 160, 0.113373651609, 0.227452530132),
    (0, 160, 0.000000000000, 0.023446195172),
    (11, 60, 0.105577968892, 0.299197537465),
    (0, 5, 0.000000000000, 0.434482464783),
    (3, 60, 0.017149502164, 0.137005164763),
    (1, 80, 0.002209975520, 0.067462700777),
    (2, 60, 0.009189319256, 0.113637742743),
]
RATES = st.integers(1, 10_000).flatmap(
    lambda of: st.integers(0, of).map(lambda count: Rate(count, of))
)


@pytest.mark.parametrize(("count", "of", "low", "high"), WILSON)
def test_wilson_agrees_with_r_scipy_and_statsmodels(
    count: int, of: int, low: float, high: float
) -> None:
    interval = Rate(count, of).wilson()

    assert interval == pytest.approx(Interval(low, high), abs=1e-10)


@given(RATES)
def test_an_interval_contains_its_rate_and_stays_between_none_and_all(rate: Rate) -> None:
    low, high = rate.wilson()

    assert 0 <= low <= rate.value <= high <= 1
    assert low < high


@given(RATES)
def test_the_interval_of_the_others_is_the_mirror_image(rate: Rate) -> None:
    low, high = rate.wilson()
    others = Rate(rate.of - rate.count, rate.of).wilson()

    assert others == pytest.approx(Interval(1 - high, 1 - low), abs=1e-12)


def test_none_seen_still_has_an_upper_limit() -> None:
    assert Rate(0, 80).wilson().low == 0
    assert Rate(0, 80).wilson().high > 0.04


def test_more_confidence_is_a_wider_interval() -> None:
    wide, narrow = Rate(5, 80).wilson(0.99), Rate(5, 80).wilson(0.8)

    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize(("count", "of"), [(0, 0), (1, 0), (-1, 80), (81, 80), (0, -1)])
def test_there_is_no_rate_without_its_denominator(count: int, of: int) -> None:
    with pytest.raises(ValueError, match=f"{count} of {of} is no rate"):
        Rate(count, of)


def test_bounds_reach_from_the_lower_end_of_one_rate_to_the_upper_end_of_the_other() -> None:
    bounds = RateBounds(Rate(5, 80), Rate(80, 80))

    assert bounds.wilson() == Interval(Rate(5, 80).wilson().low, 1.0)
