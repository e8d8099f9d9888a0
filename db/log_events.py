"""What is learned about log events after they were stored."""

from collections.abc import Collection

from sqlalchemy import update
from sqlmodel import col

from db.store import Store
from db.tables.observations import LogEventRow

_CHUNK = 500  # SQLite takes a limited number of parameters in one statement


def mark_own_cancellations(store: Store, run_id: int, request_ids: Collection[str]) -> None:
    """Mark the events of requests that we ended ourselves: they are no sign of the server's."""
    ordered = sorted(request_ids)
    with store.write() as session:
        for start in range(0, len(ordered), _CHUNK):
            session.connection().execute(
                update(LogEventRow)
                .where(
                    col(LogEventRow.run_id) == run_id,
                    col(LogEventRow.request_ref).in_(ordered[start : start + _CHUNK]),
                )
                .values(is_own_cancellation=True)
            )
