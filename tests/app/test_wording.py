"""Words and numbers as pages write them."""

import pytest

from app.wording import (
    ago_text,
    bytes_text,
    corrupt_words,
    counted_noun,
    flag_words,
    levels_text,
    offset_text,
    outcome_badge,
    reason_words,
    state_badge,
)
from db.vocabulary import ErrorReason, Outcome, RunFlag, RunState
from runner.evidence.counts import counted

SECOND_US = 1_000_000


def test_a_rate_stands_behind_its_count() -> None:
    words = corrupt_words(counted({"leak": 12, "done": 68}))

    assert words == ("12/80", "15.0\u2009% [8.8–24.4]")


def test_none_seen_is_an_upper_limit() -> None:
    assert corrupt_words(counted({"done": 80})).rate == "≤\u20094.6\u2009%"


def test_seconds_into_a_run_carry_their_sign() -> None:
    assert offset_text(84.94) == "+84.9 s"
    assert offset_text(-2) == "−2.0 s"


def test_recent_moments_are_told_by_their_age_and_old_ones_by_their_date() -> None:
    assert ago_text(0, now_us=5 * SECOND_US) == "5.0 s ago"
    assert ago_text(0, now_us=90_000 * SECOND_US) == "on 1 Jan 00:00:00 UTC"


@pytest.mark.parametrize(("size", "text"), [(14, "14 B"), (1_500, "1.5 kB"), (3_200_000, "3.2 MB")])
def test_sizes_have_a_unit(size: int, text: str) -> None:
    assert bytes_text(size) == text


def test_one_run_and_many_runs() -> None:
    assert counted_noun(1, "run") == "1 run"
    assert counted_noun(2304, "session") == "2,304 sessions"


def test_every_outcome_and_state_has_a_badge_with_icon_and_word() -> None:
    for outcome in Outcome:
        assert ":material/" in outcome_badge(outcome)
    for state in RunState:
        assert state.value in state_badge(state)


def test_every_flag_and_reason_has_words_without_underscores() -> None:
    for flag in RunFlag:
        assert "_" not in flag_words([flag])
    for reason in ErrorReason:
        assert "_" not in reason_words(reason)


def test_sessions_that_began_late_are_not_said_to_have_found_no_place() -> None:
    assert flag_words([RunFlag.ARRIVALS_LATE]) == "sessions began late"


def test_levels_are_written_with_their_factor() -> None:
    assert levels_text({"hicache": "on", "concurrency": 80}, without=["concurrency"]) == (
        "hicache on"
    )
