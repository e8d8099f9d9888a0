import pytest

from db.errors import LeaseLostError, StackLeasedError
from db.process_liveness import this_host
from db.stack_lease import (
    Holder,
    acquire_stack,
    note_found,
    note_processes,
    release_stack,
    renew_stack,
    stack_holder,
)
from db.store import Store
from db.workers import Liveness, liveness_now
from tests.db.fresh_stores import SECOND_US, START_US, FakeClock
from tests.db.processes import give_the_sign, next_line, program, started_together

ADA = Holder("ada", "this-host", 100)
BOB = Holder("bob", "this-host", 200)
FAR = Holder("far", "another-host", 100)


def seen_at(clock: FakeClock, *, gone: tuple[int, ...] = ()) -> Liveness:
    return Liveness(
        now_us=clock.utc_us(), host="this-host", is_alive=lambda process_id: process_id not in gone
    )


def acquire(
    store: Store, clock: FakeClock, holder: Holder, *, gone: tuple[int, ...] = ()
) -> object:
    return acquire_stack(
        store, "testbed", holder, liveness=seen_at(clock, gone=gone), lease_s=30
    ).left_behind


def holder_of(store: Store) -> str | None:
    lease = stack_holder(store, "testbed")
    return None if lease is None else lease.holder


def test_a_free_stack_is_leased(store: Store, clock: FakeClock) -> None:
    assert acquire(store, clock, ADA) is None

    lease = stack_holder(store, "testbed")
    assert lease is not None
    assert (lease.holder, lease.host, lease.process_id) == ("ada", "this-host", 100)
    assert lease.lease_until_us == START_US + 30 * SECOND_US


def test_a_second_holder_is_told_who_drives_the_stack(store: Store, clock: FakeClock) -> None:
    acquire(store, clock, ADA)

    with pytest.raises(
        StackLeasedError, match=r"testbed is driven by ada \(process 100 on this-host\): wait"
    ):
        acquire(store, clock, BOB)
    acquire_stack(store, "another-stack", BOB, liveness=seen_at(clock))


def test_a_released_stack_is_free(store: Store, clock: FakeClock) -> None:
    acquire(store, clock, ADA)
    release_stack(store, "testbed", ADA)

    assert holder_of(store) is None
    assert acquire(store, clock, BOB) is None


def test_a_renewed_lease_does_not_expire(store: Store, clock: FakeClock) -> None:
    acquire(store, clock, ADA)
    clock.advance_s(29)
    renew_stack(store, "testbed", ADA, lease_s=30)
    clock.advance_s(29)

    with pytest.raises(StackLeasedError):
        acquire(store, clock, BOB)


def test_whoever_takes_over_learns_what_was_found_and_started(
    store: Store, clock: FakeClock
) -> None:
    acquire(store, clock, ADA)
    note_found(store, "testbed", ADA, found={"server": {"running": False}})
    note_processes(store, "testbed", ADA, process_ids={"server": 31337})
    clock.advance_s(31)

    left_behind = acquire_stack(store, "testbed", BOB, liveness=seen_at(clock)).left_behind

    assert left_behind is not None
    assert left_behind.holder == "ada"
    assert left_behind.found == {"server": {"running": False}}
    assert left_behind.process_ids == {"server": 31337}
    lease = stack_holder(store, "testbed")
    assert lease is not None
    assert (lease.holder, lease.found) == ("bob", {"server": {"running": False}})


def test_a_holder_whose_process_is_gone_loses_the_stack_at_once(
    store: Store, clock: FakeClock
) -> None:
    acquire(store, clock, ADA)

    assert acquire(store, clock, BOB, gone=(100,)) is not None
    assert holder_of(store) == "bob"


def test_a_process_number_says_nothing_about_another_machine(
    store: Store, clock: FakeClock
) -> None:
    acquire(store, clock, FAR)

    with pytest.raises(StackLeasedError):
        acquire(store, clock, BOB, gone=(100,))


def test_the_same_holder_may_ask_again(store: Store, clock: FakeClock) -> None:
    acquire(store, clock, ADA)
    note_found(store, "testbed", ADA, found={"kept": True})
    clock.advance_s(20)

    assert acquire(store, clock, ADA) is None

    lease = stack_holder(store, "testbed")
    assert lease is not None
    assert lease.found == {"kept": True}
    assert lease.lease_until_us == clock.utc_us() + 30 * SECOND_US


def test_who_lost_the_stack_is_told_so(store: Store, clock: FakeClock) -> None:
    acquire(store, clock, ADA)
    clock.advance_s(31)
    acquire(store, clock, BOB)

    for attempt in (
        lambda: renew_stack(store, "testbed", ADA),
        lambda: note_found(store, "testbed", ADA, found={}),
        lambda: note_processes(store, "testbed", ADA, process_ids={}),
        lambda: release_stack(store, "testbed", ADA),
    ):
        with pytest.raises(LeaseLostError, match="no longer in the hands of ada"):
            attempt()
    assert holder_of(store) == "bob"


def test_of_processes_that_ask_at_once_one_gets_the_stack(store: Store) -> None:
    names = ["one", "two", "three"]

    with started_together("lease_stack", [[store.url, name] for name in names]) as processes:
        answers = [next_line(process) for process in processes]

    assert sorted(answers) == ["mine", "taken", "taken"]


def test_the_lease_of_a_killed_process_is_taken_over(store: Store, clock: FakeClock) -> None:
    with program("lease_stack", store.url, "victim") as process:
        assert next_line(process) == "ready"
        give_the_sign(process)
        assert next_line(process) == "mine"
        clock.now_us = stack_lease_start(store)
        me = Holder("me", this_host(), 1)
        with pytest.raises(StackLeasedError, match="driven by victim"):
            acquire_stack(store, "testbed", me, liveness=liveness_now(store))
        process.kill()
        process.wait()

        acquired = acquire_stack(store, "testbed", me, liveness=liveness_now(store))

    assert acquired.left_behind is not None
    assert acquired.left_behind.process_id == process.pid


def stack_lease_start(store: Store) -> int:
    lease = stack_holder(store, "testbed")
    assert lease is not None
    return lease.acquired_at_us
