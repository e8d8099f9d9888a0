import pytest

from db.errors import RowMissingError
from db.store import Store
from db.workers import Liveness, living_workers, worker_beat, worker_ended, worker_started
from tests.db.fresh_stores import START_US, FakeClock


def names(store: Store, clock: FakeClock, *, gone: tuple[int, ...] = ()) -> list[str]:
    liveness = Liveness(
        now_us=clock.utc_us(), host="here", is_alive=lambda process_id: process_id not in gone
    )
    return [worker.name for worker in living_workers(store, liveness=liveness)]


def test_a_worker_that_started_lives(store: Store, clock: FakeClock) -> None:
    worker = worker_started(store, "w1", process_id=10, host="here")

    assert (worker.host, worker.process_id, worker.started_at_us) == ("here", 10, START_US)
    assert names(store, clock) == ["w1"]


def test_silent_gone_and_ended_workers_do_not_live(store: Store, clock: FakeClock) -> None:
    worker_started(store, "silent", process_id=1, host="there")
    clock.advance_s(61)
    worker_started(store, "gone", process_id=2, host="here")
    worker_started(store, "ended", process_id=3, host="here")
    worker_started(store, "well", process_id=4, host="here")
    worker_ended(store, "ended")

    assert names(store, clock, gone=(2,)) == ["well"]


def test_a_beat_says_what_the_worker_is_at(store: Store, clock: FakeClock) -> None:
    worker_started(store, "w1", process_id=10, host="here")
    clock.advance_s(50)
    worker_beat(store, "w1", doing="r-7 driving")
    clock.advance_s(50)

    (worker,) = living_workers(store, liveness=Liveness(now_us=clock.utc_us(), host="there"))
    assert worker.doing == "r-7 driving"


def test_a_worker_that_starts_again_lives_again(store: Store, clock: FakeClock) -> None:
    worker_started(store, "w1", process_id=10, host="here")
    worker_ended(store, "w1")
    clock.advance_s(5)

    worker = worker_started(store, "w1", process_id=11, host="here")

    assert (worker.process_id, worker.ended_at_us, worker.doing) == (11, None, None)
    assert worker.started_at_us == clock.utc_us()
    assert names(store, clock) == ["w1"]


def test_an_unknown_worker_cannot_beat(store: Store) -> None:
    with pytest.raises(RowMissingError, match="no worker 'w9'"):
        worker_beat(store, "w9", doing=None)
