"""Judges a stored session again by the rules of today; it changes nothing that was recorded."""

from collections.abc import Sequence

from db.judgements import RecordedSession, RecordedTurn, SessionJudgement, TurnJudgement
from db.tables.sessions import SessionRow
from db.vocabulary import ErrorReason, Outcome
from runner.judge.record import DueAnswer, TurnContext
from runner.judge.turn_reading import JudgedTurn, judge_turn
from runner.judge.version import JUDGE_VERSION
from runner.sessions.agent_loop import Judge
from runner.sessions.session_ending import SessionEnding, judge_played
from runner.sessions.stored_turn import context_of, record_of

CUT_BY_OTHER_RULES = (
    "Other rules ended this session at a turn that today's rules find clean: "
    "what would have followed is not known."
)


def judge_again(recorded: RecordedSession, *, judge: Judge = judge_turn) -> SessionJudgement:
    """What the store is to rewrite of this session.

    Raises:
        ValueError: a turn's context is not what was written there.
    """
    contexts = [context_of(each.turn, request=each.request) for each in recorded.turns]
    records = [
        record_of(each.turn, response=each.response, reads=each.reads) for each in recorded.turns
    ]
    judged = [judge(record, context) for record, context in zip(records, contexts, strict=True)]
    rounds_completed = _rounds_completed(judged, contexts)
    ending = _ending(recorded.session, judged, rounds_completed=rounds_completed)
    judgement = judge_played(judged, ending)
    return SessionJudgement(
        session_id=_stored_id(recorded.session.id),
        outcome=judgement.outcome,
        reason=judgement.reason,
        detail=judgement.detail,
        flags=judgement.flags,
        decisive_turn=judgement.decisive_turn,
        rounds_completed=rounds_completed,
        judge_version=JUDGE_VERSION,
        turns=list(map(_turn_judgement, recorded.turns, judged)),
    )


def _turn_judgement(recorded: RecordedTurn, judged: JudgedTurn) -> TurnJudgement:
    return TurnJudgement(
        turn_id=_stored_id(recorded.turn.id),
        reading=judged.reading,
        outcome=judged.outcome,
        reason=judged.reason,
        detail=judged.detail,
        flags=judged.flags,
        markup=[span.to_json() for span in judged.markup],
        got=judged.message.to_json(),
        finish_reason=judged.message.finish_reason,
        first_token_s=judged.first_token_s,
        last_progress_s=judged.last_progress_s,
    )


def _rounds_completed(judged: Sequence[JudgedTurn], contexts: Sequence[TurnContext]) -> int:
    """Right answers before the first turn that was not clean."""
    completed = 0
    for turn, context in zip(judged, contexts, strict=True):
        if turn.outcome is not None:
            break
        completed += _ends_round(context)
    return completed


def _ends_round(context: TurnContext) -> bool:
    """Records that do not say it are of dialogues whose rounds end in an answer."""
    if context.ends_round is None:
        return isinstance(context.due, DueAnswer)
    return context.ends_round


def _ending(
    stored: SessionRow, judged: Sequence[JudgedTurn], *, rounds_completed: int
) -> SessionEnding:
    """How the session ended, as far as the rules of that time did not end it."""
    if stored.outcome == Outcome.HARNESS_ERROR and stored.detail != CUT_BY_OTHER_RULES:
        return SessionEnding(harness_error=stored.detail or "")
    if any(turn.outcome is not None for turn in judged):
        return SessionEnding()
    if stored.reason == ErrorReason.SESSION_TIMEOUT and stored.decisive_turn is None:
        return SessionEnding(ran_out_of_time=True)
    if stored.outcome == Outcome.MAXROUNDS:
        return SessionEnding(rounds_limit_hit=True)
    if rounds_completed == stored.rounds_planned:
        return SessionEnding(reached_end=True)
    return SessionEnding(harness_error=CUT_BY_OTHER_RULES)


def _stored_id(row_id: int | None) -> int:
    if row_id is None:
        raise ValueError("A session that is not stored cannot be judged again.")
    return row_id
