"""Workers and the queue as the pages read them."""

from sqlalchemy import Connection

from db.launch_queue import claim, enqueue, name_campaign, request_stop
from db.reads import work
from db.stack_lease import Holder, acquire_stack
from db.store import Store
from db.tables.work import WorkerRow
from db.workers import Liveness
from tests.db.factories import stored_campaign, stored_id
from tests.db.fresh_stores import START_US


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


def test_the_newest_request_of_a_campaign_tells_how_it_was_asked_for(
    store: Store, connection: Connection
) -> None:
    stored = stored_campaign(store)
    campaign_id = stored_id(stored.campaign)
    for blocks in (None, 5):
        enqueue(store, "smoke", blocks=blocks)
        request = claim(store, "w-1")
        assert request is not None
        name_campaign(store, stored_id(request), "w-1", campaign_id=campaign_id)

    found = work.last_request_of(connection, campaign_id)

    assert found is not None
    assert found.blocks == 5
    assert work.last_request_of(connection, 99) is None


def test_a_stack_lease_names_its_holder(store: Store, connection: Connection) -> None:
    liveness = Liveness(now_us=START_US, host="here", is_alive=lambda _: True)
    acquire_stack(store, "testbed", Holder("w-1", "here", 1), liveness=liveness)

    (lease,) = work.stack_leases(connection)

    assert (lease.stack, lease.holder) == ("testbed", "w-1")
