"""Whole tables of chosen runs, row by row, for files that people take along; nothing is held."""

from collections.abc import Iterator, Sequence

from sqlalchemy import Connection, select

from db.reads.relations import SESSION, TURN, WEDGE, columns_of
from db.reads.sessions import SessionFacts, TurnFacts

_AT_ONCE = 1_000


def every_session(connection: Connection, run_ids: Sequence[int]) -> Iterator[SessionFacts]:
    """By run and session index."""
    statement = (
        select(*columns_of(SESSION, SessionFacts))
        .where(SESSION.c.run_id.in_(run_ids))
        .order_by(SESSION.c.run_id, SESSION.c.session_index)
        .execution_options(yield_per=_AT_ONCE)
    )
    for row in connection.execute(statement):
        yield SessionFacts(**row._mapping)


def every_turn(connection: Connection, run_ids: Sequence[int]) -> Iterator[TurnFacts]:
    """By run, session index and turn."""
    statement = (
        select(*columns_of(TURN, TurnFacts))
        .join_from(TURN, SESSION, SESSION.c.id == TURN.c.session_id)
        .where(SESSION.c.run_id.in_(run_ids))
        .order_by(SESSION.c.run_id, SESSION.c.session_index, TURN.c.turn_index)
        .execution_options(yield_per=_AT_ONCE)
    )
    for row in connection.execute(statement):
        yield TurnFacts(**row._mapping)


def every_wedge(
    connection: Connection, run_ids: Sequence[int]
) -> Iterator[tuple[int, str, int, int | None, int]]:
    """Run id, service, start and end in microseconds since the epoch, and how many victims."""
    statement = (
        select(
            WEDGE.c.run_id,
            WEDGE.c.service,
            WEDGE.c.started_at_us,
            WEDGE.c.ended_at_us,
            WEDGE.c.victims,
        )
        .where(WEDGE.c.run_id.in_(run_ids))
        .order_by(WEDGE.c.run_id, WEDGE.c.started_at_us, WEDGE.c.id)
    )
    for row in connection.execute(statement):
        yield row.run_id, row.service, row.started_at_us, row.ended_at_us, len(row.victims)
