"""A played session as rows: what a server counts, however much, fits into every store."""

from dataclasses import replace
from pathlib import Path

from runner.judge.assembled_message import Usage
from runner.judge.chunk_reading import MOST_TOKENS
from runner.sessions.played_session import PlayedSession, PlayedTurn
from runner.sessions.record_rows import to_ended_session, to_late_session
from tests.runner.sessions.test_rejudging import play, stored


def with_usage(played: PlayedSession, usage: Usage) -> PlayedSession:
    def told(turn: PlayedTurn) -> PlayedTurn:
        message = replace(turn.judged.message, usage=usage)
        return replace(turn, judged=replace(turn.judged, message=message))

    return replace(played, turns=tuple(map(told, played.turns)))


def test_more_tokens_than_a_store_holds_in_one_number_are_counted_up_to_that(
    tmp_path: Path,
) -> None:
    most = Usage(prompt_tokens=MOST_TOKENS, completion_tokens=1)
    played = with_usage(play({}), most)
    assert len(played.turns) > 1

    row = to_ended_session(played, run_id=1).session

    assert row.prompt_tokens == MOST_TOKENS
    assert row.completion_tokens == len(played.turns)
    stored(played, tmp_path)


def test_a_session_that_is_made_late_is_the_same_and_says_its_size_before() -> None:
    played = play({})

    late = to_late_session(played, run_id=1, progress_said="so far")

    ended = late.make()
    assert ended == to_ended_session(played, run_id=1, progress_said="so far")
    assert (late.turn_count, late.size_bytes) == (ended.turn_count, ended.size_bytes)
