"""One session as it was played: what was sent, what came back, and what the judge said of it."""

from dataclasses import dataclass

from runner.judge.record import TurnContext, TurnRecord
from runner.judge.session_outcome import SessionJudgement
from runner.judge.turn_reading import JudgedTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedTurn:
    """One request and its answer. `request` is the body as it was sent; headers are not kept."""

    request_id: str
    round_index: int
    started_at_us: int
    request: bytes
    record: TurnRecord
    context: TurnContext
    judged: JudgedTurn


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedSession:
    """A session that has ended; one that was cut by us is none."""

    session_index: int
    dialogue_key: str
    rounds_planned: int
    rounds_completed: int
    started_at_us: int
    ended_at_us: int
    turns: tuple[PlayedTurn, ...]
    judgement: SessionJudgement
