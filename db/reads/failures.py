"""The turns in which sessions failed, and the moments of what the services logged meanwhile."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from db.reads.relations import LOG_EVENT, SESSION, TURN, WEDGE, columns_of, values
from db.reads.sessions import TurnFacts

MOST_FAILING = 20_000
MOST_EVENTS = 200_000


@dataclass(frozen=True, slots=True)
class FailingTurn:
    """The turn that decided a session, by which that session failed."""

    run_id: int
    session_id: int
    session_index: int
    outcome: str
    turn: TurnFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMoment:
    """When a service logged what kind of event, and of which request, where it names one."""

    run_id: int
    at_us: int
    kind: str
    event_class: str
    request_ref: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WedgeMoment:
    """`ended_at_us` is None where the span had no end when the watch was over."""

    run_id: int
    started_at_us: int
    ended_at_us: int | None


def failing_turns(
    connection: Connection,
    run_ids: Sequence[int],
    *,
    outcomes: Sequence[str],
    limit: int = MOST_FAILING,
) -> list[FailingTurn]:
    """One for each session with such an outcome whose turn is known, oldest first."""
    whose = [SESSION.c.run_id, SESSION.c.session_index, SESSION.c.outcome.label("session_outcome")]
    statement = (
        select(*columns_of(TURN, TurnFacts), *whose)
        .join_from(
            SESSION,
            TURN,
            (TURN.c.session_id == SESSION.c.id) & (TURN.c.turn_index == SESSION.c.decisive_turn),
        )
        .where(SESSION.c.run_id.in_(run_ids), SESSION.c.outcome.in_(outcomes))
        .order_by(TURN.c.started_at_us, TURN.c.id)
        .limit(limit)
    )
    found = []
    for row in connection.execute(statement):
        told = dict(row._mapping)
        run_id, index = told.pop("run_id"), told.pop("session_index")
        outcome = told.pop("session_outcome")
        found.append(FailingTurn(run_id, row.session_id, index, outcome, TurnFacts(**told)))
    return found


def log_moments(
    connection: Connection,
    run_ids: Sequence[int],
    *,
    classes: Sequence[str] = (),
    limit: int = MOST_EVENTS,
) -> list[LogMoment]:
    """Of the classes named, of all where none is, in the order of time; what we caused by our own
    cancelling is left out.
    """
    statement = (
        select(*columns_of(LOG_EVENT, LogMoment))
        .where(LOG_EVENT.c.run_id.in_(run_ids), LOG_EVENT.c.is_own_cancellation.is_(False))
        .order_by(LOG_EVENT.c.at_us, LOG_EVENT.c.id)
        .limit(limit)
    )
    if classes:
        statement = statement.where(LOG_EVENT.c.event_class.in_(classes))
    return values(LogMoment, connection.execute(statement))


def wedge_moments(connection: Connection, run_ids: Sequence[int]) -> list[WedgeMoment]:
    statement = (
        select(*columns_of(WEDGE, WedgeMoment))
        .where(WEDGE.c.run_id.in_(run_ids))
        .order_by(WEDGE.c.started_at_us, WEDGE.c.id)
    )
    return values(WedgeMoment, connection.execute(statement))
