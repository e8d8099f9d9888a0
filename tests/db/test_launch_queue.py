from collections import Counter

import pytest

from db.errors import LeaseLostError, RowMissingError
from db.launch_queue import (
    MAX_ATTEMPTS,
    claim,
    enqueue,
    finish,
    heartbeat,
    name_campaign,
    put_back,
    release_stale,
    request_stop,
)
from db.store import Store
from db.tables.work import LaunchRequestRow
from db.vocabulary import LaunchRequestState
from tests.db.factories import stored_campaign, stored_id
from tests.db.fresh_stores import SECOND_US, START_US, FakeClock
from tests.db.processes import run_together


def queued(store: Store, name: str = "smoke.yaml") -> int:
    return stored_id(enqueue(store, name))


def stored(store: Store, request_id: int) -> LaunchRequestRow:
    with store.session() as session:
        request = session.get(LaunchRequestRow, request_id)
    assert request is not None
    return request


def claimed(store: Store, worker: str) -> int | None:
    request = claim(store, worker, lease_s=10)
    return None if request is None else request.id


def test_a_request_keeps_what_was_asked(store: Store) -> None:
    request = enqueue(
        store,
        "smoke.yaml",
        levels={"hicache": "on"},
        order_seed=9,
        blocks=2,
        most_blocks=6,
        requested_by="ada",
    )

    kept = stored(store, stored_id(request))
    assert (kept.campaign_file, kept.levels, kept.order_seed) == (
        "smoke.yaml",
        {"hicache": "on"},
        9,
    )
    assert (kept.blocks, kept.most_blocks) == (2, 6)
    assert (kept.requested_by, kept.requested_at_us, kept.state) == ("ada", START_US, "queued")


def test_the_oldest_request_is_claimed_first(store: Store, clock: FakeClock) -> None:
    first = queued(store)
    clock.advance_s(1)
    second, third = queued(store), queued(store)

    assert [claimed(store, f"w{n}") for n in range(4)] == [first, second, third, None]


def test_a_claimed_request_has_its_worker_and_a_lease(store: Store) -> None:
    queued(store)

    request = claim(store, "worker-1", lease_s=10)

    assert request is not None
    assert (request.state, request.worker, request.attempts) == ("claimed", "worker-1", 1)
    assert request.lease_until_us == START_US + 10 * SECOND_US


def test_processes_that_claim_at_once_never_get_the_same_request(store: Store) -> None:
    ids = [queued(store) for _ in range(60)]

    outputs = run_together("claim_all", [[store.url, f"worker-{n}"] for n in range(3)])

    claims = Counter(int(line) for output in outputs for line in output)
    assert claims == Counter(ids)


def test_a_heartbeat_keeps_the_request(store: Store, clock: FakeClock) -> None:
    request_id = queued(store)
    claimed(store, "worker-1")
    clock.advance_s(9)
    heartbeat(store, request_id, "worker-1", lease_s=10)
    clock.advance_s(9)

    assert claimed(store, "worker-2") is None
    assert release_stale(store) == 0


def test_the_request_of_a_dead_worker_is_claimed_by_another(store: Store, clock: FakeClock) -> None:
    request_id = queued(store)
    claimed(store, "worker-1")
    clock.advance_s(11)

    assert claimed(store, "worker-2") == request_id
    with pytest.raises(LeaseLostError, match="q-1 is claimed, no longer in the hands of worker-1"):
        heartbeat(store, request_id, "worker-1")
    assert heartbeat(store, request_id, "worker-2").attempts == 2


def test_a_request_over_which_workers_die_fails_in_the_end(store: Store, clock: FakeClock) -> None:
    request_id = queued(store)

    for attempt in range(MAX_ATTEMPTS):
        assert claimed(store, f"worker-{attempt}") == request_id
        clock.advance_s(11)

    assert claimed(store, "worker-9") is None
    failed = stored(store, request_id)
    assert (failed.state, failed.ended_at_us) == ("failed", clock.utc_us())
    assert failed.message == "worker worker-2 went silent and 3 did so over it: read their logs"


def test_stopping_what_waits_ends_it_at_once(store: Store) -> None:
    request_id = queued(store)

    assert request_stop(store, request_id).state == "stopped"
    assert claimed(store, "worker-1") is None


def test_stopping_what_runs_is_told_to_its_worker(store: Store) -> None:
    request_id = queued(store)
    claimed(store, "worker-1")

    assert request_stop(store, request_id).state == "claimed"
    assert heartbeat(store, request_id, "worker-1").stop_requested


def test_a_stop_outlives_the_worker_that_was_to_obey_it(store: Store, clock: FakeClock) -> None:
    request_id = queued(store)
    claimed(store, "worker-1")
    request_stop(store, request_id)
    clock.advance_s(11)

    assert release_stale(store) == 1
    assert stored(store, request_id).state == "stopped"
    assert claimed(store, "worker-2") is None


def test_stopping_what_has_ended_changes_nothing(store: Store) -> None:
    request_id = queued(store)
    claimed(store, "worker-1")
    finish(store, request_id, "worker-1", state=LaunchRequestState.DONE)

    assert request_stop(store, request_id).state == "done"


def test_a_finished_request_says_how_it_ended(store: Store, clock: FakeClock) -> None:
    campaign_id = stored_id(stored_campaign(store).campaign)
    request_id = queued(store)
    claimed(store, "worker-1")
    name_campaign(store, request_id, "worker-1", campaign_id=campaign_id)
    clock.advance_s(5)

    finish(store, request_id, "worker-1", state=LaunchRequestState.FAILED, message="no stack")

    ended = stored(store, request_id)
    assert (ended.state, ended.message, ended.campaign_id) == ("failed", "no stack", campaign_id)
    assert (ended.ended_at_us, ended.lease_until_us) == (clock.utc_us(), None)


def test_only_its_worker_finishes_a_request(store: Store) -> None:
    request_id = queued(store)
    claimed(store, "worker-1")

    with pytest.raises(LeaseLostError):
        finish(store, request_id, "worker-2", state=LaunchRequestState.DONE)
    with pytest.raises(ValueError, match="cannot end as queued"):
        finish(store, request_id, "worker-1", state=LaunchRequestState.QUEUED)
    with pytest.raises(RowMissingError, match="no request q-9"):
        finish(store, 9, "worker-1", state=LaunchRequestState.DONE)


def test_a_request_that_cannot_begin_yet_waits_again_and_says_for_what(store: Store) -> None:
    request_id = queued(store)
    claimed(store, "worker-1")

    put_back(store, request_id, "worker-1", waits_for="Stack s is driven by run-7.")

    waiting = stored(store, request_id)
    assert (waiting.state, waiting.worker, waiting.attempts) == ("queued", None, 0)
    assert waiting.message == "Stack s is driven by run-7."


def test_a_wait_that_is_over_is_no_longer_told(store: Store) -> None:
    request_id = queued(store)
    claimed(store, "worker-1")
    put_back(store, request_id, "worker-1", waits_for="Stack s is driven by run-7.")
    claimed(store, "worker-1")

    name_campaign(
        store, request_id, "worker-1", campaign_id=stored_id(stored_campaign(store).campaign)
    )

    assert stored(store, request_id).message is None


def test_a_stop_that_was_asked_ends_a_request_instead_of_its_waiting_again(store: Store) -> None:
    request_id = queued(store)
    claimed(store, "worker-1")
    request_stop(store, request_id)

    put_back(store, request_id, "worker-1", waits_for="Stack s is driven by run-7.")

    assert stored(store, request_id).state == "stopped"


def test_a_worker_may_leave_some_requests_alone(store: Store, clock: FakeClock) -> None:
    first = queued(store)
    clock.advance_s(1)
    second = queued(store)

    request = claim(store, "worker-1", but_not=[first])

    assert request is not None and request.id == second
    assert claim(store, "worker-1", but_not=[first]) is None
    assert claimed(store, "worker-1") == first


def test_nobody_else_can_put_a_request_back(store: Store) -> None:
    request_id = queued(store)
    claimed(store, "worker-1")

    with pytest.raises(LeaseLostError):
        put_back(store, request_id, "worker-2", waits_for="nothing")


def test_two_who_ask_for_the_same_once_get_one_request(store: Store) -> None:
    first = enqueue(store, "smoke", levels={"hicache": ["on"]}, blocks=3, once=True)

    same = enqueue(store, "smoke", levels={"hicache": ["on"]}, blocks=3, once=True)
    more = enqueue(store, "smoke", levels={"hicache": ["on"]}, blocks=4, once=True)
    again = enqueue(store, "smoke", levels={"hicache": ["on"]}, blocks=3)

    assert same.id == first.id
    assert len({first.id, more.id, again.id}) == 3


def test_what_is_being_stopped_can_be_asked_for_again(store: Store) -> None:
    first = enqueue(store, "smoke", once=True)
    claimed(store, "worker-1")
    assert enqueue(store, "smoke", once=True).id == first.id

    request_stop(store, stored_id(first))

    assert enqueue(store, "smoke", once=True).id != first.id
