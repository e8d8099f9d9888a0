"""What became of a session: its worst turn, else where its dialogue stood when it ended."""

from collections.abc import Sequence
from dataclasses import dataclass

from db.vocabulary import ErrorReason, Outcome
from runner.judge.turn_reading import JudgedTurn


@dataclass(frozen=True, slots=True)
class SessionJudgement:
    """`decisive_turn` is the index of the turn that decided, None where none did."""

    outcome: Outcome
    reason: ErrorReason | None
    decisive_turn: int | None
    flags: tuple[str, ...]
    detail: str


def judge_session(
    turns: Sequence[JudgedTurn],
    *,
    reached_end: bool,
    rounds_limit_hit: bool,
    harness_error: str | None = None,
    session_deadline_hit: bool = False,
) -> SessionJudgement:
    """The worst turn wins, in the order in which `Outcome` lists its members.

    `session_deadline_hit`: the deadline passed between two turns, so that no turn shows it. A
    session that ended for none of the reasons given is our own fault.
    """
    flags = tuple(dict.fromkeys(flag for turn in turns for flag in turn.flags))

    def judged(
        outcome: Outcome, detail: str, reason: ErrorReason | None = None, turn: int | None = None
    ) -> SessionJudgement:
        return SessionJudgement(outcome, reason, turn, flags, detail)

    if harness_error is not None:
        return judged(Outcome.HARNESS_ERROR, harness_error)
    decisive = _worst_turn(turns)
    if decisive is not None:
        turn = turns[decisive]
        return judged(turn.outcome or Outcome.ERROR, turn.detail, turn.reason, decisive)
    if session_deadline_hit:
        detail = "The session's deadline passed between two turns."
        return judged(Outcome.ERROR, detail, ErrorReason.SESSION_TIMEOUT)
    if reached_end:
        return judged(Outcome.DONE, "The dialogue reached its end.")
    if rounds_limit_hit:
        return judged(
            Outcome.MAXROUNDS, "The round limit cut a dialogue in which nothing was wrong."
        )
    return judged(
        Outcome.HARNESS_ERROR, "The session ended before its dialogue, for no known reason."
    )


def _worst_turn(turns: Sequence[JudgedTurn]) -> int | None:
    order = list(Outcome)
    bad = [
        (order.index(turn.outcome), number)
        for number, turn in enumerate(turns)
        if turn.outcome is not None
    ]
    return min(bad)[1] if bad else None
