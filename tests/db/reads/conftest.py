"""A filled store for the reads, and a way to see how the database answers one."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, event

from db.store import Store
from tests.db.fresh_stores import fresh_store

PlanOf = Callable[[Callable[[Connection], object]], list[str]]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh_store(tmp_path) as opened:
        yield opened


@pytest.fixture
def connection(store: Store) -> Iterator[Connection]:
    with store.session() as session:
        yield session.connection()


@pytest.fixture
def plan_of(connection: Connection) -> PlanOf:
    """The steps of SQLite's plan for every statement that a read sends."""

    def explain(read: Callable[[Connection], object]) -> list[str]:
        sent: list[tuple[str, object]] = []

        def note(_1: object, _2: object, statement: str, values: object, *_: object) -> None:
            sent.append((statement, values))

        event.listen(connection, "before_cursor_execute", note)
        try:
            read(connection)
        finally:
            event.remove(connection, "before_cursor_execute", note)
        steps: list[str] = []
        for statement, values in sent:
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
            steps += [str(row[3]) for row in rows]
        return steps

    return explain
