"""Why no further turn of a session was sent."""

from collections.abc import Sequence
from dataclasses import dataclass

from runner.judge.session_outcome import SessionJudgement, judge_session
from runner.judge.turn_reading import JudgedTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnding:
    """None of these is set where the last turn was corrupt or silent and says it all.

    `ran_out_of_time`: the session's time was over between two turns, so that no turn shows it.
    """

    reached_end: bool = False
    rounds_limit_hit: bool = False
    ran_out_of_time: bool = False
    harness_error: str | None = None


def judge_played(turns: Sequence[JudgedTurn], ending: SessionEnding) -> SessionJudgement:
    return judge_session(
        turns,
        reached_end=ending.reached_end,
        rounds_limit_hit=ending.rounds_limit_hit,
        harness_error=ending.harness_error,
        session_deadline_hit=ending.ran_out_of_time,
    )
