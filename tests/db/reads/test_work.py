"""Workers and the queue as the pages read them."""

from sqlalchemy import Connection

from db.launch_queue import enqueue, request_stop
from db.reads import work
from db.store import Store
from db.tables import WorkerRow
from tests.db.factories import START_US, stored_id


def test_the_worker_that_beat_last_comes_first(store: Store, connection: Connection) -> None:
    with store.write() as session:
        for name, beat in (("old", 1), ("young", 2)):
            session.add(
                WorkerRow(
                    name=name,
                    host="here",
                    process_id=1,
                    started_at_us=START_US,
                    heartbeat_at_us=START_US + beat,
                )
            )

    assert [worker.name for worker in work.workers(connection)] == ["young", "old"]


def test_only_requests_that_wait_or_run_are_open(store: Store, connection: Connection) -> None:
    waiting = enqueue(store, "smoke")
    stopped = enqueue(store, "smoke")
    request_stop(store, stored_id(stopped))

    assert [request.id for request in work.open_requests(connection)] == [waiting.id]
    assert [request.id for request in work.recent_requests(connection)] == [
        stopped.id,
        waiting.id,
    ]
