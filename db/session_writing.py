"""How an ended session becomes rows: itself, its turns, their bytes, and the counters of its run.

It runs inside a transaction that the recorder opened, and decides nothing about batches or threads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Insert, Select, Table, Update, bindparam, insert, select, update
from sqlalchemy.sql.dml import ReturningInsert
from sqlmodel import SQLModel

from db.errors import DuplicateSessionError, RowMissingError, RunClosedError
from db.identifiers import IdKind, format_id
from db.raw_bytes import ReadTimes, keep, rounded_reads
from db.tables.runs import RunRow
from db.tables.sessions import RawRow, SessionRow, TurnRow
from db.vocabulary import RawKind, RunFlag, RunState

SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedTurn:
    """A turn with the bytes that were sent and received; `turn.session_id` is filled in later."""

    turn: TurnRow
    request: bytes
    response: bytes
    reads: ReadTimes = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedSession:
    """`progress_said`: what its run, this session included, bears so far; None keeps the last."""

    session: SessionRow
    turns: tuple[EndedTurn, ...] = ()
    progress_said: str | None = None

    @property
    def size_bytes(self) -> int:
        return sum(len(turn.request) + len(turn.response) for turn in self.turns)


@dataclass(frozen=True, slots=True)
class PackedSession:
    """A session whose bytes are compressed, so that writing it takes little time."""

    session: SessionRow
    turns: tuple[TurnRow, ...]
    raws: tuple[tuple[Mapping[str, Any], ...], ...]  # by turn, column name to value
    progress_said: str | None = None

    @property
    def is_capped(self) -> bool:
        return any(raw["is_capped"] for raws in self.raws for raw in raws)


class StoredIds(NamedTuple):
    session_id: int
    turn_ids: tuple[int, ...]


def pack_session(ended: EndedSession) -> PackedSession:
    run_id = ended.session.run_id
    return PackedSession(
        session=ended.session,
        turns=tuple(each.turn for each in ended.turns),
        raws=tuple(_raw_values(run_id, each) for each in ended.turns),
        progress_said=ended.progress_said,
    )


def write_session(connection: Connection, packed: PackedSession) -> StoredIds:
    """Store the session and count it in its run.

    Raises DuplicateSessionError, RunClosedError, RowMissingError.
    """
    _count_in_run(connection, packed)
    _refuse_duplicate(connection, packed.session)
    inserted = connection.execute(_session_insertion(), column_values(packed.session))
    session_id = int(inserted.scalar_one())
    turn_ids = _insert_turns(connection, packed, session_id) if packed.turns else ()
    return StoredIds(session_id, tuple(turn_ids))


def insert_rows(connection: Connection, rows: Sequence[SQLModel]) -> None:
    """Store rows of any tables, each table's at once."""
    by_kind: dict[type[SQLModel], list[Mapping[str, Any]]] = {}
    for row in rows:
        by_kind.setdefault(type(row), []).append(column_values(row))
    for kind, values in by_kind.items():
        connection.execute(insert(table_of(kind)), values)
    for run_id in {row.run_id for row in rows if isinstance(row, RawRow) and row.is_capped}:
        _flag_capped(connection, run_id)


def column_values(row: SQLModel) -> dict[str, Any]:
    """Column name to value; an id that the database will give is left out."""
    values = {column.name: getattr(row, column.name) for column in table_of(type(row)).columns}
    if values.get("id", 0) is None:
        del values["id"]
    return values


def table_of(kind: type[SQLModel]) -> Table:
    return SQLModel.metadata.tables[str(kind.__tablename__)]


def _raw_values(run_id: int, ended: EndedTurn) -> tuple[Mapping[str, Any], ...]:
    """Plain values, since building a row object costs more than compressing its bytes."""
    began_us = ended.turn.started_at_us
    ended_us = began_us + round(ended.turn.duration_s * SECOND_US)
    shared = {"run_id": run_id, "service": None}
    return (
        {
            **shared,
            "kind": RawKind.REQUEST,
            "at_us": began_us,
            "reads": [],
            **keep(ended.request)._asdict(),
        },
        {
            **shared,
            "kind": RawKind.RESPONSE,
            "at_us": ended_us,
            "reads": rounded_reads(ended.reads),
            **keep(ended.response)._asdict(),
        },
    )


def _count_in_run(connection: Connection, packed: PackedSession) -> None:
    run = table_of(RunRow)
    run_id = packed.session.run_id
    said = packed.progress_said
    values = {"counted_run": run_id} | ({} if said is None else {"said": said})
    counted = connection.execute(_counting(packed.session.outcome, said is not None), values)
    if counted.rowcount == 1:
        if packed.is_capped:
            _flag_capped(connection, run_id)
        return
    name = format_id(IdKind.RUN, run_id)
    if connection.execute(select(run.c.id).where(run.c.id == run_id)).first() is None:
        raise RowMissingError(f"There is no run {name} to record a session in.")
    raise RunClosedError(
        f"Run {name} is done and takes no more sessions; "
        f"session {packed.session.session_index} came too late."
    )


def _refuse_duplicate(connection: Connection, row: SessionRow) -> None:
    """Nobody can come between this look and the insertion: the row of the run is locked."""
    twin = {"of_run": row.run_id, "of_index": row.session_index}
    if connection.execute(_twin_query(), twin).first() is not None:
        raise DuplicateSessionError(
            f"Run {format_id(IdKind.RUN, row.run_id)} already has a session "
            f"{row.session_index}; the second one was not recorded."
        )


def _insert_turns(connection: Connection, packed: PackedSession, session_id: int) -> Sequence[int]:
    inserted = connection.execute(
        _turn_insertion(),
        [{**column_values(row), "session_id": session_id} for row in packed.turns],
    )
    turn_ids = inserted.scalars().all()
    raws = [
        {**raw, "turn_id": turn_id}
        for turn_id, raws_of_turn in zip(turn_ids, packed.raws, strict=True)
        for raw in raws_of_turn
    ]
    connection.execute(_raw_insertion(), raws)
    return turn_ids


def _flag_capped(connection: Connection, run_id: int) -> None:
    run = table_of(RunRow)
    flags = connection.execute(select(run.c.flags).where(run.c.id == run_id)).scalar_one()
    if RunFlag.RECORD_CAPPED not in flags:
        flagged = [*flags, RunFlag.RECORD_CAPPED]
        connection.execute(update(run).where(run.c.id == run_id).values(flags=flagged))


# The statements of every session, built once: building them takes longer than running them.


@cache
def _counting(outcome: str, says_progress: bool) -> Update:
    run = table_of(RunRow)
    counter = run.c[f"n_{outcome}"]
    changed: dict[Any, Any] = {counter: counter + 1, run.c.n_ended: run.c.n_ended + 1}
    if says_progress:
        changed[run.c.progress_said] = bindparam("said")
    is_open = (run.c.id == bindparam("counted_run"), run.c.state != RunState.DONE)
    return update(run).where(*is_open).values(changed)


@cache
def _twin_query() -> Select[Any]:
    session = table_of(SessionRow)
    return select(session.c.id).where(
        session.c.run_id == bindparam("of_run"), session.c.session_index == bindparam("of_index")
    )


@cache
def _session_insertion() -> ReturningInsert[Any]:
    session = table_of(SessionRow)
    return insert(session).returning(session.c.id)


@cache
def _turn_insertion() -> ReturningInsert[Any]:
    turn = table_of(TurnRow)
    return insert(turn).returning(turn.c.id, sort_by_parameter_order=True)


@cache
def _raw_insertion() -> Insert:
    return insert(table_of(RawRow))
