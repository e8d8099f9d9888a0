"""Which sessions a wedge caught: spans are stored as they are found, victims marked afterwards."""

from collections.abc import Mapping
from typing import Any

from sqlmodel import col, select

from db.store import Store
from db.tables.observations import WedgeRow
from db.tables.sessions import SessionRow

VICTIM_FLAG = "wedge_victim"


def store_wedge(store: Store, wedge: WedgeRow) -> int:
    """The id of the span, whose end may be stored later with `end_wedge`."""
    with store.write() as session:
        session.add(wedge)
    assert wedge.id is not None
    return wedge.id


def end_wedge(
    store: Store,
    wedge_id: int,
    *,
    ended_at_us: int | None,
    victims: list[dict[str, Any]],
    evidence: Mapping[str, Any],
) -> None:
    """What is known of a span at its end, or at the end of the watch (`ended_at_us` None)."""
    with store.write() as session:
        wedge = session.get(WedgeRow, wedge_id)
        if wedge is None:
            return
        wedge.ended_at_us = ended_at_us
        wedge.victims = victims
        wedge.evidence = {**wedge.evidence, **evidence}


def mark_wedge_victims(store: Store, run_id: int) -> int:
    """Flag the sessions that are victims of a span of this run; how many there are.

    Judging again forgets the flag, since the bytes of a session do not show it.
    """
    with store.write() as session:
        spans = session.exec(select(WedgeRow).where(WedgeRow.run_id == run_id)).all()
        indices = {victim.get("session_index") for span in spans for victim in span.victims}
        known = sorted(index for index in indices if isinstance(index, int))
        if not known:
            return 0
        caught = session.exec(
            select(SessionRow).where(
                SessionRow.run_id == run_id, col(SessionRow.session_index).in_(known)
            )
        ).all()
        for row in caught:
            if VICTIM_FLAG not in row.flags:
                row.flags = [*row.flags, VICTIM_FLAG]
        return len(caught)
