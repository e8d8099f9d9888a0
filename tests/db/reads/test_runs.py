"""Runs with their counters, and what was found out about one."""

from sqlalchemy import Connection

from db.reads import runs
from db.runs import begin_run
from db.store import Store
from db.tables.observations import WedgeRow
from db.tables.runs import FingerprintRow, LaunchRow, RunRow
from db.vocabulary import Outcome, RunState
from tests.db.factories import stored_campaign, stored_id, stored_run, stored_session
from tests.db.fresh_stores import SECOND_US, START_US


def test_runs_carry_their_counters_zeros_included(store: Store, connection: Connection) -> None:
    stored = stored_campaign(store)
    stored_run(store, stored.arms[0], counts={Outcome.LEAK: 2, Outcome.DONE: 3})

    (run,) = runs.runs(connection, [stored_id(stored.campaign)])

    assert run.counts["leak"] == 2
    assert run.counts["done"] == 3
    assert run.counts["harness_error"] == 0
    assert run.n_ended == 5
    assert run.run_state is RunState.DONE


def test_runs_come_by_block_then_position_then_attempt(
    store: Store, connection: Connection
) -> None:
    stored = stored_campaign(store)
    late = stored_run(store, stored.arms[0], block=1)
    second = stored_run(store, stored.arms[1], block=0)
    retried = stored_run(store, stored.arms[0], block=0, attempt=2)
    first = stored_run(store, stored.arms[0], block=0, attempt=1, state=RunState.STOPPED)

    found = [run.id for run in runs.runs(connection, [stored_id(stored.campaign)])]

    assert found == [first.id, retried.id, second.id, late.id]


def test_runs_of_other_campaigns_stay_out(store: Store, connection: Connection) -> None:
    other = stored_campaign(store, name="other")
    stored_run(store, other.arms[0])
    stored = stored_campaign(store)

    assert runs.runs(connection, [stored_id(stored.campaign)]) == []


def test_a_run_moved_last_when_it_ended(store: Store, connection: Connection) -> None:
    stored = stored_campaign(store)
    row = stored_run(store, stored.arms[0])

    run = runs.run(connection, stored_id(row))

    assert run is not None
    assert run.last_moved_at_us == START_US + 65 * SECOND_US


def test_a_planned_run_moved_last_when_it_was_planned(store: Store, connection: Connection) -> None:
    stored = stored_campaign(store)
    row = stored_run(store, stored.arms[0], state=RunState.PLANNED)

    run = runs.run(connection, stored_id(row))

    assert run is not None
    assert run.last_moved_at_us == START_US


def test_a_run_is_shown_with_its_verification_and_exposure(
    store: Store, connection: Connection
) -> None:
    stored = stored_campaign(store)
    checks = [{"factor": "hicache", "holds": True}]
    row = stored_run(store, stored.arms[0], verification=checks, exposure={"counters": []})

    proof = runs.run_proof(connection, stored_id(row))

    assert proof is not None
    assert proof.verification == checks
    assert proof.exposure == {"counters": []}


def test_the_newest_fingerprint_of_a_service_stands_for_it(
    store: Store, connection: Connection
) -> None:
    stored = stored_campaign(store)
    launch_id = _launch(store, stored_id(stored.campaign))
    with store.write() as session:
        for taken, version in ((1, "old"), (2, "new")):
            session.add(
                FingerprintRow(
                    launch_id=launch_id,
                    service="server",
                    facts={"version": version},
                    taken_at_us=taken,
                )
            )

    (found,) = runs.fingerprints(connection, launch_id)

    assert found.facts == {"version": "new"}


def test_wedges_come_in_the_order_of_time(store: Store, connection: Connection) -> None:
    stored = stored_campaign(store)
    run_id = stored_id(stored_run(store, stored.arms[0]))
    with store.write() as session:
        for start in (20, 10):
            session.add(WedgeRow(run_id=run_id, service="server", started_at_us=start))

    assert [wedge.started_at_us for wedge in runs.wedge_spans(connection, run_id)] == [10, 20]


def test_unknown_runs_and_launches_are_none(connection: Connection) -> None:
    assert runs.run(connection, 4) is None
    assert runs.run_proof(connection, 4) is None
    assert runs.launch(connection, 4) is None


def _launch(store: Store, campaign_id: int) -> int:
    row = LaunchRow(campaign_id=campaign_id, stack="testbed", started_at_us=START_US)
    with store.write() as session:
        session.add(row)
    return stored_id(row)


def test_movement_changes_when_a_run_moves_and_when_a_session_ends(store: Store) -> None:
    stored = stored_campaign(store)
    run = stored_run(store, stored.arms[0], state=RunState.PLANNED)
    seen = [_movement(store)]

    begin_run(store, stored_id(run), worker="w-1")
    seen.append(_movement(store))
    stored_session(store, run)
    seen.append(_movement(store))

    assert len(set(seen)) == 3


def test_the_campaign_in_work_is_that_of_the_run_begun_last(store: Store) -> None:
    idle, busy = stored_campaign(store, name="idle"), stored_campaign(store, name="busy")
    stored_run(store, idle.arms[0])
    before = _in_work(store)
    stored_run(store, busy.arms[0], state=RunState.DRIVING)

    assert before is None
    assert _in_work(store) == busy.campaign.id


def test_movement_changes_when_sessions_are_judged_anew_and_counts_runs_in_work(
    store: Store,
) -> None:
    stored = stored_campaign(store)
    run = stored_run(store, stored.arms[0], n_ended=2, n_done=2)
    before = _movement(store)

    with store.write() as session:
        row = session.get(RunRow, stored_id(run))
        assert row is not None
        row.n_done, row.n_leak = 1, 1
    stored_run(store, stored.arms[1], state=RunState.DRIVING)

    (judged,) = _movement(store)
    assert before[0].active == 0
    assert judged.active == 1
    assert judged.counted != before[0].counted


def test_a_campaign_without_runs_has_no_movement(store: Store) -> None:
    stored_campaign(store)

    assert _movement(store) == ()


def _movement(store: Store) -> tuple[runs.Movement, ...]:
    with store.session() as session:
        return tuple(runs.movement(session.connection(), [1]))


def _in_work(store: Store) -> int | None:
    with store.session() as session:
        return runs.campaign_in_work(session.connection())


def test_the_newest_runs_are_those_that_hold_so_many_sessions(
    store: Store, connection: Connection
) -> None:
    stored = stored_campaign(store)
    for block in range(3):
        stored_run(store, stored.arms[0], block=block, counts={Outcome.DONE: 10})
    every = runs.runs(connection, [stored_id(stored.campaign)])

    assert runs.newest_runs(every, at_most_sessions=30) == every
    assert runs.newest_runs(every, at_most_sessions=29) == every[1:]
    assert runs.newest_runs(every, at_most_sessions=1) == every[2:]
