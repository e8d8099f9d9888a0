"""Which arm is tried next, and what is found at the end, with answers that are certain."""

from itertools import combinations
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.reduce.cause_beliefs import Change, beliefs_within
from runner.reduce.factor_search import (
    NothingToReduce,
    Smallest,
    Step,
    Try,
    listed,
    next_step,
    smallest_failing,
)
from runner.reduce.standing import Standing

ALL = "abcdefgh"


def change(names: str) -> Change:
    return frozenset(names)


def searched(factors: str, *causes: str, barred: tuple[str, ...] = ()) -> tuple[Step, list[Change]]:
    """Played to the end: an arm flips if it has all factors of one of the causes."""
    known = {change(names): Standing.BARRED for names in barred}
    tried: list[Change] = []
    while True:
        step = next_step(factors, known, lambda kept, name: False)
        if not isinstance(step, Try):
            return step, tried
        assert step.change not in known, "an arm whose answer is known is not asked again"
        flips = any(change(cause) <= step.change for cause in causes)
        known[step.change] = Standing.FLIPS if flips else Standing.CLEAN
        tried.append(step.change)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_cause_is_found_whichever_factors_it_is(size: int) -> None:
    for names in combinations("abcdef", size):
        step, _ = searched("abcdef", "".join(names))

        assert isinstance(step, Smallest)
        assert step.change == frozenset(names)
        assert step.is_decided


@given(st.sets(st.sampled_from(ALL), min_size=1), st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_it_ends_with_a_change_that_flips_and_does_not_without_any_factor(
    cause: set[str], number: int
) -> None:
    factors = "".join(sorted(set(ALL[:number]) | cause))

    step, tried = searched(factors, "".join(cause))

    assert isinstance(step, Smallest)
    assert step.change == cause
    assert len(tried) == len(set(tried))


def test_one_factor_of_twelve_takes_fewer_arms_than_one_factor_at_a_time() -> None:
    factors = "abcdefghijkl"

    numbers = [len(searched(factors, name)[1]) for name in factors]

    assert fmean(numbers) < 0.75 * (len(factors) + 2)  # both ends among them


def test_of_two_causes_one_is_found() -> None:
    step, _ = searched("abcdef", "ab", "e")

    assert isinstance(step, Smallest)
    assert step.change in (change("ab"), change("e"))


def test_a_single_factor_is_needed_if_the_clean_arm_is_clean() -> None:
    step, tried = searched("a", "a")

    assert step == Smallest(change("a"), {"a": Standing.CLEAN})
    assert tried == [change("a"), frozenset()]


def test_an_arm_that_should_fail_and_does_not_ends_it() -> None:
    step, _ = searched("abc", "xyz")

    assert isinstance(step, NothingToReduce)
    assert "should fail does not" in step.because


def test_an_arm_that_should_be_clean_and_fails_ends_it() -> None:
    step, _ = searched("abc", "")

    assert isinstance(step, NothingToReduce)
    assert "should be clean" in step.because


def test_a_factor_whose_arm_is_barred_is_kept_and_said_not_to_be_decided() -> None:
    step, tried = searched("ab", "a", barred=("a", "b"))

    assert isinstance(step, Smallest)
    assert step.change == change("ab")
    assert step.without == {"a": Standing.BARRED, "b": Standing.BARRED}
    assert not step.is_decided
    assert change("a") not in tried


def test_an_arm_that_leans_is_run_again_only_to_confirm() -> None:
    known = {
        change("ab"): Standing.LEANS_TO_FLIP,
        frozenset(): Standing.LEANS_TO_CLEAN,
        change("a"): Standing.LEANS_TO_FLIP,
    }

    step = next_step("ab", known, lambda kept, name: False)

    assert step == Try(frozenset(), "that a is needed")


def test_clean_arms_together_can_show_that_a_factor_is_needed() -> None:
    known = {
        change("ab"): Standing.FLIPS,
        frozenset(): Standing.LEANS_TO_CLEAN,
        change("a"): Standing.FLIPS,
        change("b"): Standing.LEANS_TO_CLEAN,
    }

    step = next_step("ab", known, lambda kept, name: (kept, name) == (change("a"), "a"))

    assert step == Smallest(change("a"), {"a": Standing.CLEAN})


def test_a_lean_that_turned_out_wrong_sends_the_search_back() -> None:
    known = {
        change("abc"): Standing.FLIPS,
        frozenset(): Standing.CLEAN,
        change("a"): Standing.CLEAN,
        change("b"): Standing.CLEAN,
        change("c"): Standing.CLEAN,
        change("ab"): Standing.LEANS_TO_FLIP,
    }
    assert smallest_failing("abc", known) == change("ab")

    known[change("ab")] = Standing.CLEAN

    assert smallest_failing("abc", known) == change("abc")
    assert next_step("abc", known, lambda kept, name: False) in (
        Try(change("ac"), "whether a and c is enough"),
        Try(change("bc"), "whether b and c is enough"),
    )


def test_beliefs_add_up_to_one_and_begin_with_few_factors() -> None:
    beliefs = beliefs_within(change("abcd"), "abcd", {})

    assert beliefs.probabilities.sum() == pytest.approx(1)
    assert beliefs.probabilities[0] == 0
    # 1/2 + 1/4 + 1/8 + 1/16: single factors share 8/15, the set of all four has 1/15.
    assert beliefs.probability_that_flips(change("a")) == pytest.approx(8 / 15 / 4)
    assert beliefs.probability_that_flips(change("abcd")) == pytest.approx(1)
    assert beliefs.probabilities[0b1111] == pytest.approx(1 / 15)


def test_factors_are_listed_as_one_would_say_them() -> None:
    assert listed(change("cab"), "abc") == "a, b and c"
    assert listed(change("c"), "abc") == "c"
    assert listed(frozenset(), "abc") == ""
