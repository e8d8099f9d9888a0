from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.evidence.two_sample_process import TwoSampleProcess, two_sample_e_value

sessions = st.lists(st.booleans(), max_size=40)


def by_the_formula(first: list[bool], second: list[bool]) -> float:
    e_value = 1.0
    for i in range(min(len(first), len(second))):
        p_a = (sum(first[:i]) + 0.18) / (i + 0.36)
        p_b = (sum(second[:i]) + 0.18) / (i + 0.36)
        p_0 = (p_a + p_b) / 2
        for corrupt, p in ((first[i], p_a), (second[i], p_b)):
            e_value *= (p if corrupt else 1 - p) / (p_0 if corrupt else 1 - p_0)
    return e_value


@given(sessions, sessions)
def test_it_follows_the_formula_pair_by_pair(first: list[bool], second: list[bool]) -> None:
    assert two_sample_e_value(first, second) == pytest.approx(by_the_formula(first, second))


@given(sessions, sessions)
def test_swapping_the_arms_changes_nothing(first: list[bool], second: list[bool]) -> None:
    assert two_sample_e_value(first, second) == pytest.approx(two_sample_e_value(second, first))


@pytest.mark.parametrize("rate", [0.05, 0.15, 0.5, 0.9])
def test_its_expectation_never_exceeds_one_where_the_rates_are_equal(rate: float) -> None:
    """By enumeration of all sequences of five pairs."""
    expected = 0.0
    for outcomes in product([False, True], repeat=10):
        probability = prod(rate if corrupt else 1 - rate for corrupt in outcomes)
        expected += probability * two_sample_e_value(outcomes[:5], outcomes[5:])

    assert expected <= 1.0 + 1e-12


def test_a_session_without_a_partner_waits() -> None:
    process = TwoSampleProcess()
    process.add_pair(first_corrupt=False, second_corrupt=True)

    assert two_sample_e_value([False, False], [True]) == process.e_value


def test_peeking_after_every_pair_keeps_its_level_when_sessions_are_independent() -> None:
    rng = np.random.default_rng(3)
    crossed = 0
    for _ in range(300):
        process = TwoSampleProcess()
        draws = rng.random((150, 2)) < 0.15
        crossed += any(
            process.add_pair(first_corrupt=bool(a), second_corrupt=bool(b)) >= 20 for a, b in draws
        )

    assert crossed <= 300 * 0.05


def test_evidence_beyond_any_number_is_infinite_and_no_error() -> None:
    assert two_sample_e_value([False] * 3_000, [True] * 3_000) == float("inf")
