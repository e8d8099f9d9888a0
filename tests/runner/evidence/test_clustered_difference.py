import numpy as np
import pytest

from runner.evidence.clustered_difference import clustered_difference, effective_sessions
from runner.evidence.difference_intervals import newcombe_difference
from runner.evidence.rates import Rate
from runner.evidence.run_rate_test import Cluster


def test_independent_sessions_have_the_interval_of_newcombe() -> None:
    interval = clustered_difference([Cluster(5, 80)], [Cluster(12, 80)], rho=0.0)

    assert interval == pytest.approx(newcombe_difference(Rate(5, 80), Rate(12, 80)), abs=1e-12)


def test_correlation_widens_it_and_eighty_sessions_are_worth_sixteen() -> None:
    assert effective_sessions([Cluster(0, 80)], rho=0.05) == pytest.approx(80 / 4.95)
    narrow = clustered_difference([Cluster(5, 80)], [Cluster(12, 80)], rho=0.02)
    wide = clustered_difference([Cluster(5, 80)], [Cluster(12, 80)], rho=0.05)
    assert wide.low < narrow.low and narrow.high < wide.high


@pytest.mark.parametrize("rho", [0.02, 0.05])
@pytest.mark.parametrize("rates", [(0.15, 0.06), (0.15, 0.15), (0.06, 0.02)])
def test_it_covers_the_difference_at_the_assumed_correlation(
    rho: float, rates: tuple[float, float]
) -> None:
    rng = np.random.default_rng(8)
    scale, campaigns, held = 1 / rho - 1, 800, 0
    for _ in range(campaigns):
        arms = []
        for p in rates:
            counts = rng.binomial(80, rng.beta(p * scale, (1 - p) * scale, 3))
            arms.append([Cluster(int(k), 80) for k in counts])
        low, high = clustered_difference(arms[0], arms[1], rho=rho)
        held += low <= rates[0] - rates[1] <= high

    assert held / campaigns >= 0.93


def test_arms_without_sessions_have_no_difference() -> None:
    with pytest.raises(ValueError, match="without sessions"):
        clustered_difference([Cluster(0, 0)], [Cluster(1, 2)], rho=0.0)
