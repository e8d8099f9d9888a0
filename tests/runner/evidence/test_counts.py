"""Three denominators, and none that holds our own faults."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.vocabulary import Outcome
from runner.evidence.counts import SessionCounts, counted, pooled
from runner.evidence.rates import Rate, RateBounds

OUTCOMES = st.dictionaries(st.sampled_from(Outcome), st.integers(0, 500))


def test_the_real_case_has_three_denominators() -> None:
    counts = counted({"error": 75, "leak": 5})

    assert counts.corrupt_of_all == Rate(5, 80)
    assert counts.corrupt_of_evidence == Rate(5, 5)
    assert counts.bounds == RateBounds(Rate(5, 80), Rate(80, 80))
    assert (counts.silent, counts.gave_evidence, counts.not_corrupt) == (75, 5, 0)
    assert counts.silent_of_all == Rate(75, 80)


def test_our_own_faults_are_in_no_denominator() -> None:
    counts = counted({"done": 60, "leak": 10, "harness_error": 10})

    assert counts.harness_errors == 10
    assert counts.corrupt_of_all == counts.corrupt_of_evidence == Rate(10, 70)


def test_what_the_campaign_does_not_call_corrupt_is_evidence_that_is_not_corrupt() -> None:
    counts = counted({"done": 60, "leak": 5, "no_tool": 15}, corrupt=["leak", "malformed"])

    assert counts.corrupt_of_evidence == Rate(5, 80)
    assert counts.not_corrupt == 75
    assert counts[Outcome.NO_TOOL] == 15


def test_by_default_every_corruption_counts() -> None:
    words = ["leak", "no_tool", "malformed", "wrong", "degenerate"]

    assert counted(dict.fromkeys(words, 1)).corrupt == 5


@pytest.mark.parametrize("outcomes", [{}, {"harness_error": 4}, {"leak": 0}])
def test_without_sessions_there_is_no_rate(outcomes: dict[str, int]) -> None:
    counts = counted(outcomes)

    assert (counts.corrupt_of_all, counts.corrupt_of_evidence, counts.bounds) == (None, None, None)


def test_where_all_are_silent_the_rate_may_be_anything() -> None:
    counts = counted({"error": 80})

    assert counts.corrupt_of_evidence is None
    assert counts.bounds == RateBounds(Rate(0, 80), Rate(80, 80))


@given(OUTCOMES, st.sets(st.sampled_from(Outcome)))
def test_the_parts_add_up_and_the_bounds_hold_every_reading(
    outcomes: dict[Outcome, int], chosen: set[Outcome]
) -> None:
    corrupt = [word for word in ("leak", "no_tool", "malformed", "wrong") if word in chosen]
    counts = counted(outcomes, corrupt=corrupt)

    assert counts.corrupt + counts.not_corrupt + counts.silent == counts.all
    assert counts.all + counts.harness_errors == sum(outcomes.values())
    if counts.bounds is not None and counts.corrupt_of_evidence is not None:
        assert counts.bounds.low.value <= counts.corrupt_of_evidence.value + 1e-12
        assert counts.corrupt_of_evidence.value <= counts.bounds.high.value + 1e-12


@given(st.lists(OUTCOMES, max_size=4))
def test_runs_are_added_outcome_by_outcome(runs: list[dict[Outcome, int]]) -> None:
    total = pooled([SessionCounts(outcomes) for outcomes in runs])

    for outcome in Outcome:
        assert total[outcome] == sum(outcomes.get(outcome, 0) for outcomes in runs)


def test_words_that_are_no_outcomes_and_negative_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="leek"):
        counted({"leek": 1})
    with pytest.raises(ValueError, match="leak cannot have occurred -1 times"):
        counted({"leak": -1})
