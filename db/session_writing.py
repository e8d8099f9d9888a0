"""How an ended session becomes rows: itself, its turns, their bytes, and the counters of its run.

It runs inside a transaction that the recorder opened, and decides nothing about batches or threads.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import Connection, Insert, Select, Table, Update, bindparam, insert, select, update
from sqlmodel import SQLModel

from db.errors import DuplicateSessionError, RowMissingError, RunClosedError
from db.identifiers import IdKind, format_id
from db.raw_bytes import keep
from db.read_times import ReadTimes
from db.tables.runs import RunRow
from db.tables.sessions import RawRow, SessionRow, SessionValues, TurnRow, TurnValues
from db.vocabulary import Outcome, RawKind, RunFlag, RunState

SECOND_US = 1_000_000
_NO_READS = ReadTimes()


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedTurn:
    """A turn with the bytes that were sent and received; `turn.session_id` is filled in later.

    The times of `reads` are stored as they are: round them to what they can tell.
    """

    turn: TurnValues
    request: bytes
    response: bytes
    reads: ReadTimes = field(default_factory=ReadTimes)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedSession:
    """`progress_said`: what its run, this session included, bears so far; None keeps the last."""

    session: SessionValues
    turns: tuple[EndedTurn, ...] = ()
    progress_said: str | None = None

    @property
    def turn_count(self) -> int:
        return len(self.turns)

    @property
    def size_bytes(self) -> int:
        return sum(len(turn.request) + len(turn.response) for turn in self.turns)


@dataclass(frozen=True, slots=True, kw_only=True)
class LateSession:
    """A session whose rows are made when it is stored: among others', which takes a third of the
    time that it takes between two reads of a stream. `make` runs in the recorder's thread.
    """

    make: Callable[[], EndedSession]
    turn_count: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class PackedSession:
    """A session whose bytes are compressed, so that writing it takes little time."""

    session: SessionValues
    turns: tuple[TurnValues, ...]
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


def write_sessions(connection: Connection, packed: Sequence[PackedSession]) -> list[StoredIds]:
    """Store sessions of one run and count them in it.

    Raises DuplicateSessionError, RunClosedError, RowMissingError, and stores nothing of them then.
    """
    _count_in_run(connection, packed)
    _refuse_duplicates(connection, [each.session for each in packed])
    session_ids = _insert_sessions(connection, [each.session for each in packed])
    turn_ids = _insert_turns(connection, packed, session_ids)
    _insert_raws(connection, packed, turn_ids)
    return [
        StoredIds(session_id, ids) for session_id, ids in zip(session_ids, turn_ids, strict=True)
    ]


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
    if hasattr(type(row), "__table__"):
        values = {column.name: getattr(row, column.name) for column in table_of(type(row)).columns}
    else:  # the values of a row: its fields are the columns
        values = dict(vars(row))
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
            "reads": _NO_READS,
            **keep(ended.request)._asdict(),
        },
        {
            **shared,
            "kind": RawKind.RESPONSE,
            "at_us": ended_us,
            "reads": ended.reads,
            **keep(ended.response)._asdict(),
        },
    )


def _count_in_run(connection: Connection, packed: Sequence[PackedSession]) -> None:
    run = table_of(RunRow)
    run_id = packed[0].session.run_id
    said = [each.progress_said for each in packed if each.progress_said is not None]
    values: dict[str, Any] = {"counted_run": run_id, "ended": len(packed)}
    values |= {f"more_{outcome}": 0 for outcome in Outcome}
    values |= Counter(f"more_{each.session.outcome}" for each in packed)
    values |= {"said": said[-1]} if said else {}
    if connection.execute(_counting(bool(said)), values).rowcount == 1:
        if any(each.is_capped for each in packed):
            _flag_capped(connection, run_id)
        return
    name = format_id(IdKind.RUN, run_id)
    if connection.execute(select(run.c.id).where(run.c.id == run_id)).first() is None:
        raise RowMissingError(f"There is no run {name} to record a session in.")
    raise RunClosedError(
        f"Run {name} is done and takes no more sessions; "
        f"session {packed[0].session.session_index} came too late."
    )


def _refuse_duplicates(connection: Connection, rows: Sequence[SessionValues]) -> None:
    """Nobody can come between this look and the insertion: the row of the run is locked."""
    run_id = rows[0].run_id
    indexes = Counter(row.session_index for row in rows)
    asked = {"of_run": run_id, "of_indexes": [*indexes]}
    stored = connection.execute(_ids_query(), asked).scalars().all()
    twice = [*stored, *(index for index, times in indexes.items() if times > 1)]
    if twice:
        raise DuplicateSessionError(
            f"Run {format_id(IdKind.RUN, run_id)} already has a session "
            f"{twice[0]}; the second one was not recorded."
        )


# The ids are asked for by what is unique: to return them, SQLite inserts the rows one by one.


def _insert_sessions(connection: Connection, rows: Sequence[SessionValues]) -> list[int]:
    connection.execute(_insertion(SessionRow), [column_values(row) for row in rows])
    asked = {"of_run": rows[0].run_id, "of_indexes": [row.session_index for row in rows]}
    ids = {found.session_index: found.id for found in connection.execute(_ids_query(), asked)}
    return [ids[row.session_index] for row in rows]


def _insert_turns(
    connection: Connection, packed: Sequence[PackedSession], session_ids: Sequence[int]
) -> list[tuple[int, ...]]:
    """The ids of the turns of each session."""
    rows = [
        {**column_values(row), "session_id": session_id}
        for each, session_id in zip(packed, session_ids, strict=True)
        for row in each.turns
    ]
    if not rows:
        return [()] * len(packed)
    connection.execute(_insertion(TurnRow), rows)
    found = connection.execute(_turn_ids_query(), {"of_sessions": [*session_ids]})
    ids = {(session_id, index): turn_id for session_id, index, turn_id in found}
    return [
        tuple(ids[session_id, row.turn_index] for row in each.turns)
        for each, session_id in zip(packed, session_ids, strict=True)
    ]


def _insert_raws(
    connection: Connection, packed: Sequence[PackedSession], turn_ids: Sequence[Sequence[int]]
) -> None:
    rows = [
        {**raw, "turn_id": turn_id}
        for each, ids in zip(packed, turn_ids, strict=True)
        for raws, turn_id in zip(each.raws, ids, strict=True)
        for raw in raws
    ]
    if rows:
        connection.execute(_insertion(RawRow), rows)


def _flag_capped(connection: Connection, run_id: int) -> None:
    run = table_of(RunRow)
    flags = connection.execute(select(run.c.flags).where(run.c.id == run_id)).scalar_one()
    if RunFlag.RECORD_CAPPED not in flags:
        flagged = [*flags, RunFlag.RECORD_CAPPED]
        connection.execute(update(run).where(run.c.id == run_id).values(flags=flagged))


# The statements of all sessions, built once: building them takes longer than running them.


@cache
def _counting(says_progress: bool) -> Update:
    run = table_of(RunRow)
    changed: dict[Any, Any] = {run.c.n_ended: run.c.n_ended + bindparam("ended")}
    for outcome in Outcome:
        counter = run.c[f"n_{outcome}"]
        changed[counter] = counter + bindparam(f"more_{outcome}")
    if says_progress:
        changed[run.c.progress_said] = bindparam("said")
    is_open = (run.c.id == bindparam("counted_run"), run.c.state != RunState.DONE)
    return update(run).where(*is_open).values(changed)


@cache
def _ids_query() -> Select[Any]:
    """The sessions of a run with certain indexes: (index, id)."""
    session = table_of(SessionRow)
    return select(session.c.session_index, session.c.id).where(
        session.c.run_id == bindparam("of_run"),
        session.c.session_index.in_(bindparam("of_indexes", expanding=True)),
    )


@cache
def _turn_ids_query() -> Select[Any]:
    """The turns of certain sessions: (session, index, id)."""
    turn = table_of(TurnRow)
    return select(turn.c.session_id, turn.c.turn_index, turn.c.id).where(
        turn.c.session_id.in_(bindparam("of_sessions", expanding=True))
    )


@cache
def _insertion(kind: type[SQLModel]) -> Insert:
    return insert(table_of(kind))
