"""The difference of two rates, with an interval that silence and correlation widen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.rate_difference import rate_difference
from db.vocabulary import Outcome
from runner.evidence.counts import SessionCounts


def _counts(corrupt: int, clean: int, silent: int = 0) -> SessionCounts:
    return SessionCounts({Outcome.LEAK: corrupt, Outcome.DONE: clean, Outcome.ERROR: silent})


COUNTS = st.builds(_counts, st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))


def test_two_single_runs_are_told_apart_as_far_as_correlated_sessions_allow() -> None:
    found = rate_difference([_counts(12, 68)], [_counts(0, 80)])

    # Newcombe's square-and-add of the Wilson limits of 80 / 4.95 effective sessions a side.
    assert found is not None
    assert found.seen == (-0.15, -0.15)
    assert found.interval.low == pytest.approx(-0.3875191, abs=1e-6)
    assert found.interval.high == pytest.approx(0.0679632, abs=1e-6)


def test_the_words_say_points_with_a_sign() -> None:
    found = rate_difference([_counts(12, 68)], [_counts(0, 80)])

    assert found is not None
    assert found.words == "−15.0 points [−38.8 to +6.8]"


def test_silent_sessions_leave_no_single_number_to_be_read_as_an_improvement() -> None:
    found = rate_difference([_counts(10, 70)], [_counts(5, 0, 75)])

    assert found is not None
    assert found.words.startswith("−6.3 to +87.5 points [")


def test_a_side_without_sessions_has_no_difference() -> None:
    assert rate_difference([], [_counts(1, 1)]) is None
    assert rate_difference([_counts(1, 1)], [_counts(0, 0)]) is None


@given(st.lists(COUNTS, min_size=1, max_size=3), st.lists(COUNTS, min_size=1, max_size=3))
def test_the_difference_lies_in_its_interval_and_turns_with_the_sides(
    a: list[SessionCounts], b: list[SessionCounts]
) -> None:
    forth, back = rate_difference(a, b), rate_difference(b, a)

    if forth is None or back is None:
        assert forth is back
        return
    assert forth.interval.low - 1e-9 <= forth.seen.low
    assert forth.seen.low <= forth.seen.high <= forth.interval.high + 1e-9
    assert forth.seen.low == pytest.approx(-back.seen.high)
    assert forth.interval.low == pytest.approx(-back.interval.high)


def test_silent_sessions_widen_the_interval_on_both_sides() -> None:
    heard = rate_difference([_counts(5, 75)], [_counts(5, 75)])
    silent = rate_difference([_counts(5, 55, 20)], [_counts(5, 55, 20)])

    assert heard is not None
    assert silent is not None
    assert silent.interval.low < heard.interval.low
    assert silent.interval.high > heard.interval.high
