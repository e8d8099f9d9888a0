from sqlmodel import col, select

from db.log_events import mark_own_cancellations
from db.store import Store
from db.tables.observations import LogEventRow
from tests.db.factories import stored_campaign, stored_id, stored_log_events, stored_run


def test_events_of_requests_that_we_ended_are_marked_in_their_run_alone(store: Store) -> None:
    arms = stored_campaign(store).arms
    runs = [stored_run(store, arm) for arm in arms[:2]]
    for run in runs:
        events = stored_log_events(store, run, ["Abort req-1", "Abort req-2", "no request"])
        with store.write() as session:
            for event, reference in zip(events, ["req-1", "req-2", None], strict=True):
                event.request_ref = reference
                session.add(event)

    ended_by_us = {"req-1", *(f"unknown-{number}" for number in range(1_200))}
    mark_own_cancellations(store, stored_id(runs[0]), ended_by_us)

    with store.session() as session:
        rows = session.exec(select(LogEventRow).order_by(col(LogEventRow.id))).all()
    assert [row.is_own_cancellation for row in rows] == [True, *[False] * 5]
