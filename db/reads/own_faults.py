"""Sessions that came to nothing through a fault of our own, which stand in no rate."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from db.reads.relations import SESSION
from db.vocabulary import Outcome


@dataclass(frozen=True, slots=True)
class OwnFaults:
    """How many sessions, and what was recorded of one of them."""

    sessions: int
    detail: str | None


def own_faults(connection: Connection, run_ids: Sequence[int]) -> OwnFaults:
    statement = select(func.count(), func.min(SESSION.c.detail)).where(
        SESSION.c.run_id.in_(run_ids), SESSION.c.outcome == str(Outcome.HARNESS_ERROR)
    )
    number, detail = connection.execute(statement).one()
    return OwnFaults(number, detail)
