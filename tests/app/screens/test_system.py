"""The system page: store, workers with their heartbeats, requests, stacks, versions."""

from db.launch_queue import claim, enqueue
from db.stack_lease import Holder, acquire_stack
from db.store import Store
from db.workers import Liveness
from tests.app.conftest import Open, words_of
from tests.app.scenes import worker_now
from tests.db.fresh_stores import START_US


def cells_of(page: object) -> str:
    frames = [frame.value for frame in page.dataframe]  # type: ignore[attr-defined]
    return "\n".join(frame.to_csv() for frame in frames)


def test_an_empty_store_shows_its_address_and_that_nobody_works(
    open_page: Open, store: Store
) -> None:
    page = open_page("system")

    assert not page.exception
    words = words_of(page)
    assert "No worker was ever here. Start one: `decisive worker`" in words
    assert "Nothing was ever queued here." in words
    assert any("Decisive" in table.value.index for table in page.table)


def test_workers_requests_and_stacks_are_listed(open_page: Open, store: Store) -> None:
    worker_now(store, now_us=START_US)
    enqueue(store, "decisive-test")
    claim(store, "w-1")
    enqueue(store, "smoke", requested_by="mia")
    liveness = Liveness(now_us=START_US, host="here", is_alive=lambda _: True)
    acquire_stack(store, "testbed", Holder("w-1", "here", 1), liveness=liveness)

    page = open_page("system")

    assert not page.exception
    cells = cells_of(page)
    assert "w-1,silent" in cells
    assert "q-2,smoke,queued" in cells
    assert "q-1,decisive-test,running" in cells
    assert "testbed,w-1" in cells
