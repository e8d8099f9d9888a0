"""A session that came to nothing through a fault of our own, before any of its turns is known."""

from runner.sessions.played_session import PlayedSession
from runner.sessions.session_ending import SessionEnding, judge_played


def unplayed_session(
    session_index: int, *, scenario_name: str, started_at_us: int, ended_at_us: int, because: str
) -> PlayedSession:
    """A `harness_error`, which stands in no rate and is always listed."""
    return PlayedSession(
        session_index=session_index,
        dialogue_key=f"{scenario_name}/{session_index}",
        rounds_planned=0,
        rounds_completed=0,
        started_at_us=started_at_us,
        ended_at_us=ended_at_us,
        turns=(),
        judgement=judge_played([], SessionEnding(harness_error=because)),
    )
