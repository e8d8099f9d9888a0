import pytest

from runner.evidence.background_rate import (
    BackgroundRate,
    background_of,
    background_sentence,
    exceeds_background,
)
from runner.evidence.run_rate_test import Cluster


def test_a_known_good_arm_gives_a_rate_and_its_limit() -> None:
    background = background_of([Cluster(2, 80), Cluster(1, 80)], rho=0.02)

    assert (background.k, background.n, background.rate) == (3, 160, 3 / 160)
    assert background.rate < background.upper < 0.1


def test_where_nothing_is_the_models_own_a_single_corrupt_session_is_too_many() -> None:
    assert exceeds_background([Cluster(1, 80)], background=0.0, rho=0.05)
    assert not exceeds_background([Cluster(0, 80)], background=0.0, rho=0.05)


@pytest.mark.parametrize(("corrupt", "exceeds"), [(4, False), (30, True)])
def test_above_a_background_it_takes_an_improbable_number(corrupt: int, exceeds: bool) -> None:
    clusters = [Cluster(corrupt, 80), Cluster(0, 80)]

    assert exceeds_background(clusters, background=0.05, rho=0.02) is exceeds


def test_the_sentence_tells_a_background_of_none_from_one_that_is_known() -> None:
    none = background_sentence("fp8", BackgroundRate(k=0, n=240, upper=0.02))
    some = background_sentence("fp8", BackgroundRate(k=6, n=240, upper=0.06))

    assert none.startswith("The background is zero: 0 of 240 sessions")
    assert some.startswith("Background: 6 of 240 sessions") and "(2.5\u2009%)" in some
