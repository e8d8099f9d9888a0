"""Sessions as a recorder is given them, and how many rows came of them."""

from sqlmodel import SQLModel, func, select

from db.read_times import ReadTimes
from db.recorder import EndedSession, EndedTurn
from db.session_writing import table_of
from db.store import Store
from db.tables.runs import RunRow
from db.vocabulary import Outcome
from tests.db.factories import stored_id
from tests.db.unstored_rows import CLEAN_TURNS, TurnSpec, session_row, turn_row


def ended_session(
    run: RunRow,
    outcome: Outcome = Outcome.DONE,
    *,
    index: int = 0,
    turns: tuple[TurnSpec, ...] = CLEAN_TURNS,
) -> EndedSession:
    return EndedSession(
        session=session_row(stored_id(run), outcome, index=index),
        turns=tuple(
            EndedTurn(
                turn=turn_row(spec, index=position),
                request=b'{"turn": %d}' % position,
                response=spec.response,
                reads=ReadTimes((0.25,), (len(spec.response),)),
            )
            for position, spec in enumerate(turns)
        ),
    )


def count(store: Store, kind: type[SQLModel]) -> int:
    with store.session() as session:
        return session.exec(select(func.count()).select_from(table_of(kind))).one()
