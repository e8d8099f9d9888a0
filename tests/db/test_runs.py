from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from hypothesis.strategies import sampled_from
from sqlmodel import col, select

from db.errors import IllegalTransitionError, RowMissingError, RunBusyError
from db.runs import (
    DueRun,
    begin_run,
    failed_attempts,
    find_run,
    flag_run,
    interrupt_orphans,
    missing_runs,
    plan_runs,
    transition_run,
    write_run_facts,
)
from db.store import Store
from db.tables.runs import RunRow
from db.vocabulary import Outcome, RunFlag, RunState
from db.workers import Liveness, worker_beat, worker_ended, worker_started
from tests.db.factories import StoredCampaign, stored_campaign, stored_id, stored_run
from tests.db.fresh_stores import SECOND_US, START_US, FakeClock, fresh_store

PATH = [
    RunState.VERIFYING,
    RunState.WARMING,
    RunState.DRIVING,
    RunState.SETTLING,
    RunState.DONE,
]


@pytest.fixture
def campaign(store: Store) -> StoredCampaign:
    return stored_campaign(store)


def due_runs(campaign: StoredCampaign, blocks: int = 2) -> list[DueRun]:
    """Two arms in each block, so that keys are k-<block>-<arm>."""
    pairs = [(block, arm) for block in range(1, blocks + 1) for arm in campaign.arms[:2]]
    return [
        DueRun(
            arm_id=stored_id(arm),
            block=block,
            position=position,
            run_key=f"k-{block}-{arm.position}",
            sessions_planned=arm.sessions_per_run,
        )
        for position, (block, arm) in enumerate(pairs)
    ]


def plan(store: Store, campaign: StoredCampaign, due: list[DueRun]) -> list[RunRow]:
    return plan_runs(store, stored_id(campaign.campaign), due)


def drive(store: Store, run: RunRow, *, end: RunState = RunState.DONE) -> RunRow:
    begin_run(store, stored_id(run), worker="worker-1")
    if end is not RunState.DONE:
        return transition_run(store, stored_id(run), end, reason="a reason")
    return [transition_run(store, stored_id(run), state) for state in PATH][-1]


def living(clock: FakeClock, *, alive: bool = True, silent_after_s: float = 60) -> Liveness:
    return Liveness(
        now_us=clock.utc_us(),
        host="this-host",
        is_alive=lambda process_id: alive,
        silent_after_s=silent_after_s,
    )


def test_a_fresh_campaign_plans_every_run_once(store: Store, campaign: StoredCampaign) -> None:
    due = due_runs(campaign)

    planned = plan(store, campaign, due)
    again = plan(store, campaign, due)

    assert [(run.run_key, run.state, run.attempt) for run in planned] == [
        ("k-1-0", "planned", 1),
        ("k-1-1", "planned", 1),
        ("k-2-0", "planned", 1),
        ("k-2-1", "planned", 1),
    ]
    assert [run.id for run in again] == [run.id for run in planned]
    assert planned[0].planned_at_us == START_US


@pytest.mark.parametrize("end", [RunState.STOPPED, RunState.FAILED, RunState.INVALID])
def test_a_run_whose_evidence_does_not_count_is_attempted_again(
    store: Store, campaign: StoredCampaign, end: RunState
) -> None:
    due = due_runs(campaign)
    first, second, *_ = plan(store, campaign, due)
    drive(store, first, end=end)
    drive(store, second)

    planned = plan(store, campaign, due)

    assert [(run.run_key, run.attempt) for run in planned] == [
        ("k-1-0", 2),
        ("k-2-0", 1),
        ("k-2-1", 1),
    ]
    assert find_run(store, stored_id(first)).state == end


def test_a_cell_is_present_only_with_a_done_run(store: Store, campaign: StoredCampaign) -> None:
    due = due_runs(campaign)
    done, stopped, failed, invalid = plan(store, campaign, due)
    drive(store, done)
    drive(store, stopped, end=RunState.STOPPED)
    drive(store, failed, end=RunState.FAILED)
    drive(store, invalid, end=RunState.INVALID)

    missing = missing_runs(store, stored_id(campaign.campaign), due)

    assert missing == due[1:]


def test_a_run_of_another_campaign_fills_no_cell(store: Store, campaign: StoredCampaign) -> None:
    other = stored_campaign(store, name="other")
    for run in plan(store, other, due_runs(other)):
        drive(store, run)

    missing = missing_runs(store, stored_id(campaign.campaign), due_runs(campaign))

    assert len(missing) == 4


def test_a_run_that_is_being_driven_is_not_attempted_beside(
    store: Store, campaign: StoredCampaign
) -> None:
    due = due_runs(campaign)
    begin_run(store, stored_id(plan(store, campaign, due)[0]), worker="worker-9")

    with pytest.raises(RunBusyError, match=r"r-1 is applying in the hands of worker-9"):
        plan(store, campaign, due)


def test_the_moments_of_a_run_are_noted_as_it_goes(
    store: Store, campaign: StoredCampaign, clock: FakeClock
) -> None:
    run_id = stored_id(plan(store, campaign, due_runs(campaign))[0])
    clock.advance_s(1)
    begin_run(store, run_id, worker="worker-1")
    for state in PATH:
        clock.advance_s(1)
        transition_run(store, run_id, state)

    run = find_run(store, run_id)
    moments = (run.planned_at_us, run.started_at_us, run.driving_at_us, run.ended_at_us)
    assert moments == tuple(START_US + second * SECOND_US for second in (0, 1, 4, 6))
    assert (run.worker, run.state, run.reason) == ("worker-1", "done", None)


def test_a_step_cannot_be_left_out(store: Store, campaign: StoredCampaign) -> None:
    run_id = stored_id(plan(store, campaign, due_runs(campaign))[0])
    begin_run(store, run_id, worker="worker-1")

    with pytest.raises(
        IllegalTransitionError, match="r-1 is applying and cannot become driving: it may become"
    ):
        transition_run(store, run_id, RunState.DRIVING)

    assert find_run(store, run_id).state == "applying"


def test_an_ended_run_moves_no_more(store: Store, campaign: StoredCampaign) -> None:
    run = plan(store, campaign, due_runs(campaign))[0]
    drive(store, run)

    with pytest.raises(IllegalTransitionError, match="it has ended"):
        transition_run(store, stored_id(run), RunState.STOPPED)


def test_a_run_cannot_begin_without_a_worker(store: Store, campaign: StoredCampaign) -> None:
    run_id = stored_id(plan(store, campaign, due_runs(campaign))[0])

    with pytest.raises(IllegalTransitionError, match="begin_run"):
        transition_run(store, run_id, RunState.APPLYING)


def test_what_is_no_run_is_named(store: Store) -> None:
    for missing in (
        lambda: find_run(store, 7),
        lambda: begin_run(store, 7, worker="w"),
        lambda: flag_run(store, 7, RunFlag.NOT_DRAINED),
    ):
        with pytest.raises(RowMissingError, match="no run r-7"):
            missing()


def test_facts_and_flags_are_added_to_a_run(store: Store, campaign: StoredCampaign) -> None:
    run_id = stored_id(stored_run(store, campaign.arms[0], state=RunState.SETTLING))

    write_run_facts(store, run_id, wall_s=485.7, peak_running=2.0, wedge_lines=168)
    write_run_facts(store, run_id, exposure={"host": 12}, verification=[{"factor": "hicache"}])
    flag_run(store, run_id, RunFlag.SERVER_DIED)
    flag_run(store, run_id, RunFlag.SERVER_DIED, RunFlag.NOT_DRAINED)

    run = find_run(store, run_id)
    assert (run.wall_s, run.peak_running, run.wedge_lines) == (485.7, 2.0, 168)
    assert (run.exposure, run.verification) == ({"host": 12}, [{"factor": "hicache"}])
    assert run.flags == ["server_died", "not_drained"]
    assert run.wedges is None


def test_a_last_attempt_that_failed_is_told_until_it_is_planned_anew(
    store: Store, campaign: StoredCampaign
) -> None:
    due = due_runs(campaign)
    campaign_id = stored_id(campaign.campaign)
    failing, stopped, *_ = plan(store, campaign, due)
    for run, end in ((failing, RunState.FAILED), (stopped, RunState.STOPPED)):
        begin_run(store, stored_id(run), worker="worker-1")
        transition_run(store, stored_id(run), end, reason="the disk is full")

    (failed,) = failed_attempts(store, campaign_id, due)
    assert (failed.id, failed.reason) == (failing.id, "the disk is full")

    plan(store, campaign, due)
    assert failed_attempts(store, campaign_id, due) == []


class TestOrphans:
    """A run whose worker is dead is stopped; how one knows is told apart here."""

    def orphans(self, store: Store, liveness: Liveness) -> list[tuple[str | None, str]]:
        return [(run.reason, run.state) for run in interrupt_orphans(store, liveness=liveness)]

    def begun(self, store: Store, *, host: str = "this-host") -> RunRow:
        worker_started(store, "worker-1", process_id=4242, host=host)
        arm = stored_campaign(store).arms[0]
        return stored_run(
            store, arm, state=RunState.DRIVING, counts={Outcome.LEAK: 2, Outcome.DONE: 3}
        )

    def test_a_living_worker_keeps_its_run(self, store: Store, clock: FakeClock) -> None:
        self.begun(store)

        assert self.orphans(store, living(clock)) == []

    def test_a_living_worker_that_drives_nothing_leaves_the_run_whose_end_was_not_stored(
        self, store: Store, clock: FakeClock
    ) -> None:
        self.begun(store)

        assert interrupt_orphans(store, liveness=living(clock), idle="worker-2") == []
        (left,) = interrupt_orphans(store, liveness=living(clock), idle="worker-1")

        reason = "interrupted while driving: the store took no word of how it ended"
        assert (left.state, left.reason) == ("stopped", reason)

    def test_a_run_keeps_its_sessions_when_its_worker_was_killed(
        self, store: Store, clock: FakeClock
    ) -> None:
        run = self.begun(store)
        clock.advance_s(3)

        stopped = self.orphans(store, living(clock, alive=False))

        reason = "interrupted while driving: worker worker-1 on this-host is gone"
        assert stopped == [(reason, "stopped")]
        kept = find_run(store, stored_id(run))
        assert (kept.n_ended, kept.n_leak, kept.n_done) == (5, 2, 3)
        assert kept.ended_at_us == START_US + 3 * SECOND_US
        assert self.orphans(store, living(clock, alive=False)) == []

    def test_a_worker_elsewhere_counts_as_dead_only_after_long_silence(
        self, store: Store, clock: FakeClock
    ) -> None:
        self.begun(store, host="another-host")
        clock.advance_s(60)
        assert self.orphans(store, living(clock, alive=False)) == []

        clock.advance_s(1)
        assert len(self.orphans(store, living(clock, alive=False))) == 1

    def test_a_process_that_took_over_the_number_does_not_hide_the_silence(
        self, store: Store, clock: FakeClock
    ) -> None:
        self.begun(store)
        clock.advance_s(61)

        assert len(self.orphans(store, living(clock, alive=True))) == 1

    def test_a_beat_ends_the_silence(self, store: Store, clock: FakeClock) -> None:
        self.begun(store)
        clock.advance_s(59)
        worker_beat(store, "worker-1", doing="driving")
        clock.advance_s(59)

        assert self.orphans(store, living(clock)) == []

    def test_a_worker_that_said_goodbye_left_its_run(self, store: Store, clock: FakeClock) -> None:
        self.begun(store)
        worker_ended(store, "worker-1")

        assert len(self.orphans(store, living(clock))) == 1

    def test_a_worker_that_came_back_under_its_name_does_not_own_the_old_run(
        self, store: Store, clock: FakeClock
    ) -> None:
        self.begun(store)
        clock.advance_s(1)
        worker_started(store, "worker-1", process_id=4243, host="this-host")

        assert len(self.orphans(store, living(clock))) == 1

    def test_a_run_of_no_known_worker_is_stopped(self, store: Store, clock: FakeClock) -> None:
        stored_run(store, stored_campaign(store).arms[0], state=RunState.WARMING)

        stopped = self.orphans(store, living(clock))

        assert stopped == [("interrupted: no worker answers for it", "stopped")]

    def test_planned_and_ended_runs_are_left_alone(self, store: Store, clock: FakeClock) -> None:
        arms = stored_campaign(store).arms
        stored_run(store, arms[0], state=RunState.PLANNED)
        stored_run(store, arms[1], state=RunState.DONE)

        assert self.orphans(store, living(clock, alive=False)) == []


class RunLife(RuleBasedStateMachine):
    """Whatever is asked in whatever order, a key has one done run at most, and it is its last."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.store = fresh_store(Path(self.folder.name))
        self.campaign = stored_campaign(self.store)
        self.due = due_runs(self.campaign, blocks=1)
        self.accepted = 0

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()

    @rule()
    def plan(self) -> None:
        try:
            planned = plan(self.store, self.campaign, self.due)
        except RunBusyError:
            assert any(RunState(run.state).is_active for run in self.runs())
        else:
            missing = missing_runs(self.store, stored_id(self.campaign.campaign), self.due)
            assert [run.run_key for run in planned] == [each.run_key for each in missing]

    @rule(state=sampled_from(RunState), newest=sampled_from([True, False]))
    def move(self, state: RunState, newest: bool) -> None:
        runs = self.runs()
        if not runs:
            return
        run = runs[-1] if newest else runs[0]
        try:
            if state is RunState.APPLYING:
                begin_run(self.store, stored_id(run), worker="worker-1")
            else:
                transition_run(self.store, stored_id(run), state)
        except IllegalTransitionError:
            assert find_run(self.store, stored_id(run)).state == run.state

    @invariant()
    def a_done_run_is_the_last_attempt_of_its_key(self) -> None:
        by_key: dict[str, list[str]] = {}
        for run in self.runs():
            by_key.setdefault(run.run_key, []).append(run.state)
        for states in by_key.values():
            assert "done" not in states[:-1]
            assert all(RunState(state).is_terminal for state in states[:-1])

    def runs(self) -> list[RunRow]:
        with self.store.session() as session:
            return list(session.exec(select(RunRow).order_by(col(RunRow.attempt), col(RunRow.id))))


RunLife.TestCase.settings = settings(max_examples=10, stateful_step_count=25, deadline=None)
TestRunLife = RunLife.TestCase
