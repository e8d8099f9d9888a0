import pytest

from runner.evidence.risk_difference import excess_over_sum
from runner.evidence.run_rate_test import Cluster


def excess(both: int, first: int, second: int, neither: int | None, rho: float = 0.0) -> object:
    arms = [[Cluster(k, 80)] for k in (both, first, second)]
    return excess_over_sum(
        ("a", "b"),
        both=arms[0],
        first=arms[1],
        second=arms[2],
        neither=[] if neither is None else [Cluster(neither, 80)],
        rho=rho,
        alpha=0.05,
    )


def test_it_is_both_minus_each_plus_neither() -> None:
    result = excess(24, 8, 4, 2)

    assert result.excess == pytest.approx((24 - 8 - 4 + 2) / 80)
    assert result.limits.low < result.excess < result.limits.high


def test_one_alone_is_as_large_as_both_leaves_no_excess() -> None:
    assert excess(12, 12, 0, 0).limits.low < 0 < excess(12, 0, 0, 0).limits.low


def test_a_cell_that_is_missing_counts_as_never_failing() -> None:
    assert excess(12, 2, 3, None).excess == excess(12, 2, 3, 0).excess


def test_correlation_widens_it() -> None:
    assert excess(12, 0, 0, 0, rho=0.05).limits.low < excess(12, 0, 0, 0).limits.low
