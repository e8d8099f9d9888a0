"""How judgements are made again: what was recorded is read, what was judged is rewritten.

This is the one place that changes the judged columns of a stored session or turn.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, select, update
from sqlmodel import Session, col
from sqlmodel import select as select_rows

from db.errors import RowMissingError
from db.identifiers import IdKind, format_id
from db.raw_bytes import decompress
from db.read_times import ReadTimes
from db.store import Store
from db.tables.runs import RunRow
from db.tables.sessions import RawRow, SessionRow, TurnRow
from db.vocabulary import Outcome, RawKind, TurnReading


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """A stored turn with its bytes. `is_capped`: the response was longer than what was kept."""

    turn: TurnRow
    request: bytes
    response: bytes
    reads: ReadTimes
    is_capped: bool


class RecordedSession(NamedTuple):
    session: SessionRow
    turns: tuple[RecordedTurn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnJudgement:
    """The judged columns of one turn."""

    turn_id: int
    reading: TurnReading
    outcome: Outcome | None
    reason: str | None
    detail: str | None
    flags: Sequence[str]
    markup: Sequence[Mapping[str, Any]]
    got: Mapping[str, Any]
    finish_reason: str | None
    first_token_s: float | None
    last_progress_s: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionJudgement:
    """The judged columns of one session, and of all its turns."""

    session_id: int
    outcome: Outcome
    reason: str | None
    detail: str | None
    flags: Sequence[str]
    decisive_turn: int | None
    rounds_completed: int
    judge_version: str
    turns: Sequence[TurnJudgement]


def recorded_sessions(store: Store, run_id: int) -> Iterator[RecordedSession]:
    """The sessions of a run by index, read one at a time."""
    with store.session() as session:
        ids = session.exec(
            select_rows(SessionRow.id)
            .where(SessionRow.run_id == run_id)
            .order_by(col(SessionRow.session_index))
        ).all()
    for session_id in ids:
        with store.session() as session:
            recorded = _recorded_session(session, session_id)
        if recorded is not None:
            yield recorded


def recorded_turn(store: Store, turn_id: int) -> RecordedTurn:
    """Raises RowMissingError."""
    with store.session() as session:
        turn = session.get(TurnRow, turn_id)
        if turn is None:
            raise RowMissingError(f"There is no turn {turn_id} in this store.")
        return _recorded_turn(session, turn)


def rewrite_judgements(store: Store, run_id: int, judgements: Sequence[SessionJudgement]) -> None:
    """Replace what was judged of these sessions, and count the outcomes of the run anew.

    All of it in one transaction: nobody sees counters that differ from the sessions.
    Raises RowMissingError where a session is not of this run, or a turn not of its session.
    """
    with store.write() as session:
        connection = session.connection()
        for judgement in judgements:
            _rewrite_session(connection, run_id, judgement)
        _recount(connection, run_id)


def _recorded_session(session: Session, session_id: int | None) -> RecordedSession | None:
    row = session.get(SessionRow, session_id)
    if row is None:
        return None
    turns = session.exec(
        select_rows(TurnRow)
        .where(TurnRow.session_id == session_id)
        .order_by(col(TurnRow.turn_index))
    ).all()
    return RecordedSession(row, tuple(_recorded_turn(session, turn) for turn in turns))


def _recorded_turn(session: Session, turn: TurnRow) -> RecordedTurn:
    raws = session.exec(select_rows(RawRow).where(RawRow.turn_id == turn.id)).all()
    by_kind = {raw.kind: raw for raw in raws}
    request, response = by_kind.get(RawKind.REQUEST), by_kind.get(RawKind.RESPONSE)
    return RecordedTurn(
        turn=turn,
        request=b"" if request is None else decompress(request.content),
        response=b"" if response is None else decompress(response.content),
        reads=ReadTimes() if response is None else ReadTimes.of(response.reads),
        is_capped=response is not None and response.is_capped,
    )


def _rewrite_session(connection: Connection, run_id: int, judgement: SessionJudgement) -> None:
    rewritten = connection.execute(
        update(SessionRow)
        .where(col(SessionRow.id) == judgement.session_id, col(SessionRow.run_id) == run_id)
        .values(**_session_columns(judgement))
    )
    name = format_id(IdKind.SESSION, judgement.session_id)
    if rewritten.rowcount != 1:
        run_name = format_id(IdKind.RUN, run_id)
        raise RowMissingError(f"Run {run_name} has no session {name}; nothing was rewritten.")
    for turn in judgement.turns:
        rewritten = connection.execute(
            update(TurnRow)
            .where(col(TurnRow.id) == turn.turn_id)
            .where(col(TurnRow.session_id) == judgement.session_id)
            .values(**_turn_columns(turn))
        )
        if rewritten.rowcount != 1:
            raise RowMissingError(f"{name} has no turn {turn.turn_id}; nothing was rewritten.")


def _session_columns(judgement: SessionJudgement) -> dict[str, Any]:
    return {
        "outcome": judgement.outcome,
        "reason": judgement.reason,
        "detail": judgement.detail,
        "flags": list(judgement.flags),
        "decisive_turn": judgement.decisive_turn,
        "rounds_completed": judgement.rounds_completed,
        "judge_version": judgement.judge_version,
    }


def _turn_columns(judgement: TurnJudgement) -> dict[str, Any]:
    return {
        "reading": judgement.reading,
        "outcome": judgement.outcome,
        "reason": judgement.reason,
        "detail": judgement.detail,
        "flags": list(judgement.flags),
        "markup": [dict(span) for span in judgement.markup],
        "got": dict(judgement.got),
        "finish_reason": judgement.finish_reason,
        "first_token_s": judgement.first_token_s,
        "last_progress_s": judgement.last_progress_s,
    }


def _recount(connection: Connection, run_id: int) -> None:
    counted = connection.execute(
        select(col(SessionRow.outcome), func.count())
        .where(col(SessionRow.run_id) == run_id)
        .group_by(col(SessionRow.outcome))
    )
    counts = {row.outcome: int(row[1]) for row in counted}
    counters = {f"n_{outcome}": counts.get(outcome, 0) for outcome in Outcome}
    connection.execute(
        update(RunRow)
        .where(col(RunRow.id) == run_id)
        .values(n_ended=sum(counts.values()), **counters)
    )
