"""A played session as the rows of the store: it keeps all and decides nothing."""

from collections.abc import Iterable
from functools import partial

from db.session_writing import EndedSession, LateSession
from db.tables.sessions import SessionValues
from runner.judge.chunk_reading import MOST_TOKENS
from runner.judge.version import JUDGE_VERSION
from runner.sessions.played_session import PlayedSession
from runner.sessions.stored_turn import to_ended_turn


def to_late_session(
    played: PlayedSession, *, run_id: int, progress_said: str | None = None
) -> LateSession:
    """As `to_ended_session`, which the recorder will call."""
    return LateSession(
        make=partial(to_ended_session, played, run_id=run_id, progress_said=progress_said),
        turn_count=len(played.turns),
        size_bytes=sum(len(turn.request) + len(turn.record.body) for turn in played.turns),
    )


def to_ended_session(
    played: PlayedSession, *, run_id: int, progress_said: str | None = None
) -> EndedSession:
    """Rows without ids; the recorder gives them when it stores the session."""
    judgement = played.judgement
    messages = [turn.judged.message for turn in played.turns]
    row = SessionValues(
        run_id=run_id,
        session_index=played.session_index,
        dialogue_key=played.dialogue_key,
        outcome=judgement.outcome,
        reason=judgement.reason,
        detail=judgement.detail,
        flags=list(judgement.flags),
        decisive_turn=judgement.decisive_turn,
        rounds_planned=played.rounds_planned,
        rounds_completed=played.rounds_completed,
        started_at_us=played.started_at_us,
        ended_at_us=played.ended_at_us,
        first_token_s=played.turns[0].judged.first_token_s if played.turns else None,
        prompt_tokens=_sum(message.usage.prompt_tokens for message in messages),
        completion_tokens=_sum(message.usage.completion_tokens for message in messages),
        host_cached_tokens=_sum(message.cached_tokens.get("host") for message in messages),
        judge_version=JUDGE_VERSION,
    )
    turns = [to_ended_turn(turn, turn_index=at) for at, turn in enumerate(played.turns)]
    return EndedSession(session=row, turns=tuple(turns), progress_said=progress_said)


def _sum(counts: Iterable[int | None]) -> int:
    """What the server did not say counts as nothing: the sum is a lower bound."""
    return min(MOST_TOKENS, sum(count or 0 for count in counts))
