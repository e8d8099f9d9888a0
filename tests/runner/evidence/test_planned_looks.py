import numpy as np
import pytest

from runner.evidence.lower_rate import lower_rate
from runner.evidence.planned_looks import TWO_LOOKS, Look, looks_p, looks_taken
from runner.evidence.run_rate_test import Cluster

CLEAN, FAULTY = Cluster(0, 80), Cluster(12, 80)


def test_the_first_look_waits_for_two_runs_of_each_arm() -> None:
    assert looks_taken([CLEAN] * 3, [FAULTY], rho=0.02) == ()


def test_a_look_reads_its_own_runs_and_none_that_came_later() -> None:
    first = [Cluster(5, 80), Cluster(9, 80), CLEAN]

    (look,) = looks_taken(first, [FAULTY] * 3, rho=0.02)

    assert look.p == lower_rate(first[:2], [FAULTY] * 2, rho=0.02).p
    assert not look.is_lower


def test_an_answer_at_the_first_look_ends_the_looking() -> None:
    looks = looks_taken([CLEAN] * 4, [FAULTY, Cluster(14, 80)] * 2, rho=0.02)

    assert [result.look for result in looks] == [TWO_LOOKS[0]]
    assert looks[0].is_lower


def test_the_second_look_has_its_own_share_of_alpha() -> None:
    first, second = [Cluster(8, 80)] * 4, [Cluster(12, 80)] * 4

    looks = looks_taken(first, second, rho=0.02, looks=(Look(2, 0.02), Look(4, 0.03)))

    assert [result.look.alpha for result in looks] == [0.02, 0.03]


def test_both_looks_together_keep_the_level() -> None:
    rng = np.random.default_rng(29)
    found = 0
    for _ in range(150):
        rates = rng.beta(0.15 * 49, 0.85 * 49, (2, 4))  # correlation 0.02
        first, second = ([Cluster(int(k), 80) for k in arm] for arm in rng.binomial(80, rates))
        found += any(result.is_lower for result in looks_taken(first, second, rho=0.02))

    assert found / 150 <= 0.08  # 0.021 to 0.044 in long simulations; three standard errors more


def test_two_looks_share_alpha_as_published() -> None:
    assert [(look.runs, look.alpha) for look in TWO_LOOKS] == [(2, 0.02), (4, 0.03)]


def test_one_p_value_for_both_looks_weighs_each_by_its_share() -> None:
    first, second = [Cluster(8, 80)] * 3 + [Cluster(7, 80)], [Cluster(12, 80), Cluster(14, 80)] * 2
    early, late = (lower_rate(first[:n], second[:n], rho=0.02).p for n in (2, 4))

    assert looks_p(first[:2], second[:2], rho=0.02) == pytest.approx(min(1.0, early * 2.5))
    assert looks_p(first, second, rho=0.02) == pytest.approx(min(early * 2.5, late * 5 / 3))
    assert late * 5 / 3 < early * 2.5 < 1
    assert looks_p(first[:1], second, rho=0.02) == 1.0
    assert looks_p(second, first, rho=0.02) == 1.0
