"""Sessions of a run, one session with its turns, and its neighbours in a filtered list."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Select, func, select

from db.reads.frames import frame_of
from db.reads.relations import ARM, RUN, SESSION, TURN, columns_of, value_or_none, values
from db.tables.columns import Json, JsonList
from db.vocabulary import UNKNOWN_START_US, RunState

if TYPE_CHECKING:
    from pandas import DataFrame

Statement = TypeVar("Statement", bound=Select[Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class SilentKind:
    """A reason for silence, how many sessions had it, and what was recorded of one of them."""

    reason: str
    sessions: int
    detail: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFacts:
    """`started_at_us` and `ended_at_us` mean something only where `is_timed`."""

    id: int
    run_id: int
    session_index: int
    dialogue_key: str
    outcome: str
    reason: str | None
    detail: str | None
    flags: JsonList
    decisive_turn: int | None
    rounds_planned: int
    rounds_completed: int
    started_at_us: int
    ended_at_us: int
    first_token_s: float | None
    prompt_tokens: int
    completion_tokens: int
    host_cached_tokens: int
    judge_version: str

    @property
    def is_timed(self) -> bool:
        """False where an imported file does not tell when the session was played."""
        return self.started_at_us > UNKNOWN_START_US

    @property
    def took_s(self) -> float | None:
        """None where its times do not tell it: unknown, or turned back by a clock."""
        if not self.is_timed or self.ended_at_us <= self.started_at_us:
            return None
        return (self.ended_at_us - self.started_at_us) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnFacts:
    id: int
    session_id: int
    turn_index: int
    round_index: int
    request_id: str
    due: Json
    got: Json
    context: Json
    reading: str
    outcome: str | None
    reason: str | None
    detail: str | None
    flags: JsonList
    markup: JsonList
    http_status: int | None
    content_type: str | None
    transport_end: str
    started_at_us: int
    first_byte_s: float | None
    first_token_s: float | None
    last_progress_s: float | None
    duration_s: float
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cached_tokens: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinFacts:
    """The session that played the same dialogue in another arm."""

    session_id: int
    outcome: str
    run_id: int
    block: int
    arm_id: int
    arm_name: str
    concurrency: int


class FailingDialogue(NamedTuple):
    """A dialogue that was corrupt in so many of the runs asked about, and one session of it."""

    dialogue_key: str
    corrupt: int
    session_id: int


class Waited(NamedTuple):
    """After how many seconds a share of so many `sessions` had their first token."""

    seconds: float
    sessions: int


def sessions(
    connection: Connection,
    run_id: int,
    *,
    outcomes: Sequence[str] = (),
    limit: int = 500,
    offset: int = 0,
) -> list[SessionFacts]:
    """Sessions of a run by session index; of the outcomes named, or of all where none is named."""
    statement = (
        _of_run(select(*columns_of(SESSION, SessionFacts)), run_id, outcomes)
        .order_by(SESSION.c.session_index)
        .limit(limit)
        .offset(offset)
    )
    return values(SessionFacts, connection.execute(statement))


def sessions_of_runs(
    connection: Connection,
    run_ids: Sequence[int],
    *,
    outcomes: Sequence[str],
    limit: int = 100,
    offset: int = 0,
) -> list[SessionFacts]:
    """Sessions of several runs with the outcomes named, in the order in which they ended."""
    statement = (
        select(*columns_of(SESSION, SessionFacts))
        .where(SESSION.c.run_id.in_(run_ids), SESSION.c.outcome.in_(outcomes))
        .order_by(SESSION.c.ended_at_us)
        .limit(limit)
        .offset(offset)
    )
    return values(SessionFacts, connection.execute(statement))


def reason_counts(connection: Connection, run_ids: Sequence[int]) -> dict[str, int]:
    """How many silent sessions of these runs ended for each reason."""
    statement = (
        select(SESSION.c.reason, func.count().label("sessions"))
        .where(SESSION.c.run_id.in_(run_ids), SESSION.c.outcome == "error")
        .group_by(SESSION.c.reason)
        .order_by(func.count().desc(), SESSION.c.reason)
    )
    return {row.reason or "unknown": row.sessions for row in connection.execute(statement)}


def silent_kinds(connection: Connection, run_ids: Sequence[int]) -> list[SilentKind]:
    """Why sessions of these runs fell silent, the most frequent reason first, each with one of the
    details that were recorded.
    """
    number = func.count().label("sessions")
    statement = (
        select(
            func.coalesce(SESSION.c.reason, "unknown").label("reason"),
            number,
            func.min(SESSION.c.detail).label("detail"),
        )
        .where(SESSION.c.run_id.in_(run_ids), SESSION.c.outcome == "error")
        .group_by(SESSION.c.reason)
        .order_by(number.desc(), SESSION.c.reason)
    )
    return values(SilentKind, connection.execute(statement))


def failing_dialogues(
    connection: Connection, run_ids: Sequence[int], *, outcomes: Sequence[str], limit: int = 20
) -> list[FailingDialogue]:
    """The dialogues that had one of these outcomes in most runs, most often first."""
    corrupt = func.count().label("corrupt")
    statement = (
        select(SESSION.c.dialogue_key, corrupt, func.min(SESSION.c.id).label("session_id"))
        .where(SESSION.c.run_id.in_(run_ids), SESSION.c.outcome.in_(outcomes))
        .group_by(SESSION.c.dialogue_key)
        .order_by(corrupt.desc(), SESSION.c.dialogue_key)
        .limit(limit)
    )
    return [FailingDialogue(*row) for row in connection.execute(statement)]


def first_token_waits(
    connection: Connection, run_ids: Sequence[int], *, at_most: int = 2000
) -> list[float]:
    """Seconds to the first token, shortest first; of many sessions every so-manyth one."""
    waits = _waits(connection, run_ids)
    stride = max(1, -(-len(waits) // at_most))
    last = len(waits) - 1
    return [wait for place, wait in enumerate(waits) if place % stride == 0 or place == last]


def first_token_quantile(
    connection: Connection, run_ids: Sequence[int], *, share: float
) -> Waited | None:
    """The wait that `share` of the sessions with a first token did not exceed; None: there is none.

    The nearest-rank quantile: a wait that was measured, never one in between.
    """
    waits = _waits(connection, run_ids)
    rank = max(1, ceil(share * len(waits)))
    return Waited(waits[rank - 1], len(waits)) if waits else None


def _waits(connection: Connection, run_ids: Sequence[int]) -> list[float]:
    """Read once and sorted here: no index has them, so that counting them first costs as much."""
    waited = SESSION.c.first_token_s
    statement = select(waited).where(SESSION.c.run_id.in_(run_ids), waited.is_not(None))
    return sorted(connection.execute(statement).scalars())


def session(connection: Connection, session_id: int) -> SessionFacts | None:
    statement = select(*columns_of(SESSION, SessionFacts)).where(SESSION.c.id == session_id)
    return value_or_none(SessionFacts, connection.execute(statement).one_or_none())


def turns(connection: Connection, session_id: int) -> list[TurnFacts]:
    statement = (
        select(*columns_of(TURN, TurnFacts))
        .where(TURN.c.session_id == session_id)
        .order_by(TURN.c.turn_index)
    )
    return values(TurnFacts, connection.execute(statement))


def twins(
    connection: Connection, campaign_id: int, session_index: int, *, limit: int = 60
) -> list[TwinFacts]:
    """What the dialogue with this index became in every finished run of the campaign."""
    statement = (
        select(
            SESSION.c.id.label("session_id"),
            SESSION.c.outcome,
            RUN.c.id.label("run_id"),
            RUN.c.block,
            RUN.c.arm_id,
            ARM.c.name.label("arm_name"),
            ARM.c.concurrency,
        )
        .join_from(RUN, ARM, ARM.c.id == RUN.c.arm_id)
        .join(SESSION, (SESSION.c.run_id == RUN.c.id) & (SESSION.c.session_index == session_index))
        .where(RUN.c.campaign_id == campaign_id, RUN.c.state == RunState.DONE)
        .order_by(ARM.c.position, RUN.c.block)
        .limit(limit)
    )
    return values(TwinFacts, connection.execute(statement))


def session_spans(connection: Connection, run_id: int) -> "DataFrame":
    """One row a session whose times are known: `id`, `session_index`, `outcome`, `started_at_us`,
    `ended_at_us`.
    """
    statement = (
        select(
            SESSION.c.id,
            SESSION.c.session_index,
            SESSION.c.outcome,
            SESSION.c.started_at_us,
            SESSION.c.ended_at_us,
        )
        .where(SESSION.c.run_id == run_id, SESSION.c.started_at_us > UNKNOWN_START_US)
        .order_by(SESSION.c.started_at_us)
    )
    names = ["id", "session_index", "outcome", "started_at_us", "ended_at_us"]
    return frame_of(connection, statement, names)


def paired_outcomes(connection: Connection, run_a: int, run_b: int) -> "DataFrame":
    """The dialogues that both runs played: `session_index`, and id and outcome on either side."""
    other = SESSION.alias("other")
    statement = (
        select(
            SESSION.c.session_index,
            SESSION.c.dialogue_key,
            SESSION.c.id.label("a_id"),
            SESSION.c.outcome.label("a_outcome"),
            other.c.id.label("b_id"),
            other.c.outcome.label("b_outcome"),
        )
        .join_from(
            SESSION,
            other,
            (other.c.run_id == run_b)
            & (other.c.session_index == SESSION.c.session_index)
            & (other.c.dialogue_key == SESSION.c.dialogue_key),
        )
        .where(SESSION.c.run_id == run_a)
        .order_by(SESSION.c.session_index)
    )
    names = ["session_index", "dialogue_key", "a_id", "a_outcome", "b_id", "b_outcome"]
    return frame_of(connection, statement, names)


def _of_run(statement: Statement, run_id: int, outcomes: Sequence[str]) -> Statement:
    statement = statement.where(SESSION.c.run_id == run_id)
    return statement.where(SESSION.c.outcome.in_(outcomes)) if outcomes else statement
