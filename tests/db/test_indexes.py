"""The questions that are asked often, or of large tables, are answered through an index."""

import pytest
from sqlalchemy import func, select
from sqlalchemy.dialects import sqlite
from sqlalchemy.sql import ClauseElement
from sqlmodel import col

from db.store import Store
from db.tables.campaigns import VerdictRow
from db.tables.observations import LogEventRow, MetricSampleRow
from db.tables.runs import RunRow
from db.tables.sessions import RawRow, SessionRow, TurnRow
from db.tables.work import LaunchRequestRow
from tests.db.factories import stored_campaign

QUESTIONS: dict[str, tuple[ClauseElement, str]] = {
    "runs of a campaign by arm": (
        select(RunRow).where(col(RunRow.campaign_id) == 1, col(RunRow.arm_id) == 2),
        "run_of_arm",
    ),
    "latest attempt of a run key": (
        select(RunRow).where(col(RunRow.campaign_id) == 1, col(RunRow.run_key) == "k"),
        "sqlite_autoindex_run_1",
    ),
    "sessions of a run in order": (
        select(SessionRow)
        .where(col(SessionRow.run_id) == 1)
        .order_by(col(SessionRow.session_index)),
        "sqlite_autoindex_session_1",
    ),
    "corrupt sessions of a run": (
        select(SessionRow).where(
            col(SessionRow.run_id) == 1, col(SessionRow.outcome).in_(["leak", "wrong"])
        ),
        "session_by_outcome",
    ),
    "outcomes of a run counted": (
        select(col(SessionRow.outcome), func.count())
        .where(col(SessionRow.run_id) == 1)
        .group_by(col(SessionRow.outcome)),
        "COVERING INDEX session_by_outcome",
    ),
    "turns of a session in order": (
        select(TurnRow).where(col(TurnRow.session_id) == 1).order_by(col(TurnRow.turn_index)),
        "sqlite_autoindex_turn_1",
    ),
    "bytes of a turn": (select(RawRow).where(col(RawRow.turn_id) == 1), "raw_of_turn"),
    "service log of a run": (
        select(RawRow)
        .where(col(RawRow.run_id) == 1, col(RawRow.kind) == "service_log")
        .order_by(col(RawRow.at_us)),
        "raw_of_run",
    ),
    "log events of a run in a span": (
        select(LogEventRow)
        .where(col(LogEventRow.run_id) == 1, col(LogEventRow.at_us).between(1, 2))
        .order_by(col(LogEventRow.at_us)),
        "log_event_of_run",
    ),
    "one series of a run": (
        select(MetricSampleRow)
        .where(col(MetricSampleRow.run_id) == 1, col(MetricSampleRow.name) == "running")
        .order_by(col(MetricSampleRow.at_us)),
        "metric_series",
    ),
    "oldest request in the queue": (
        select(col(LaunchRequestRow.id))
        .where(col(LaunchRequestRow.state) == "queued")
        .order_by(col(LaunchRequestRow.requested_at_us), col(LaunchRequestRow.id))
        .limit(1),
        "launch_queue",
    ),
    "verdicts of a hypothesis": (
        select(VerdictRow).where(col(VerdictRow.hypothesis_id) == 1).order_by(col(VerdictRow.id)),
        "ix_verdict_hypothesis_id",
    ),
}


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_an_index_answers_it_without_a_scan_or_a_sort(store: Store, question: str) -> None:
    stored_campaign(store)
    statement, index = QUESTIONS[question]

    plan = query_plan(store, statement)

    assert index in plan
    assert "SCAN" not in plan
    assert "TEMP B-TREE" not in plan


def query_plan(store: Store, statement: ClauseElement) -> str:
    sql = str(statement.compile(dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True}))
    with store.session() as session:
        rows = session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}").all()
    return "\n".join(row[3] for row in rows)
