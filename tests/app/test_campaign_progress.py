"""How far a campaign got, counted by what is to be run and not by attempts."""

import pytest

from app.campaign_progress import Asked, CampaignState, is_settled, progress_of
from db.vocabulary import Outcome, RunState
from tests.app.values import run_counts, verdict_facts

ALL_CLEAN = {Outcome.DONE: 80}


def test_a_run_that_was_stopped_and_done_again_counts_once() -> None:
    runs = [
        run_counts(1, run_key="a", attempt=1, state=RunState.STOPPED),
        run_counts(2, run_key="a", attempt=2, counts=ALL_CLEAN),
    ]

    progress = progress_of(runs)

    assert (progress.runs_done, progress.runs_total) == (1, 1)
    assert progress.state is CampaignState.DONE
    assert progress.share == 1.0


def test_a_run_in_work_adds_what_has_ended() -> None:
    runs = [
        run_counts(1, counts=ALL_CLEAN),
        run_counts(2, state=RunState.DRIVING, counts={Outcome.DONE: 40}),
    ]

    progress = progress_of(runs)

    assert progress.state is CampaignState.RUNNING
    assert (progress.sessions_ended, progress.sessions_planned) == (120, 160)
    assert progress.active is not None
    assert progress.active.id == 2


def test_planned_runs_without_one_in_work_wait() -> None:
    assert progress_of([run_counts(state=RunState.PLANNED)]).state is CampaignState.WAITING


def test_a_campaign_whose_runs_ended_otherwise_is_incomplete() -> None:
    runs = [run_counts(1, counts=ALL_CLEAN), run_counts(2, state=RunState.INVALID)]

    assert progress_of(runs).state is CampaignState.INCOMPLETE


def test_no_run_is_no_progress() -> None:
    progress = progress_of([])

    assert progress.share == 0
    assert progress.last_moved_at_us is None
    assert progress.state is CampaignState.WAITING


def test_a_campaign_whose_last_run_was_stopped_is_stopped_and_does_not_wait() -> None:
    runs = [
        run_counts(1, counts=ALL_CLEAN, ended_at_us=10),
        run_counts(2, state=RunState.STOPPED, ended_at_us=20),
        run_counts(3, state=RunState.PLANNED),
    ]

    assert progress_of(runs, now_us=10**12).state is CampaignState.STOPPED


def test_a_campaign_that_somebody_asked_for_again_is_running() -> None:
    runs = [run_counts(1, state=RunState.STOPPED), run_counts(2, state=RunState.PLANNED)]

    assert progress_of(runs, asked=Asked.WORKS).state is CampaignState.RUNNING


def test_a_campaign_that_lies_in_the_queue_waits_until_a_worker_has_it() -> None:
    runs = [run_counts(1, counts=ALL_CLEAN)]

    assert progress_of(runs, asked=Asked.WAITS).state is CampaignState.WAITING
    driving = [*runs, run_counts(2, state=RunState.DRIVING)]
    assert progress_of(driving, asked=Asked.WAITS).state is CampaignState.RUNNING


def test_between_two_runs_a_campaign_is_running_and_long_after_it_is_incomplete() -> None:
    runs = [
        run_counts(1, counts=ALL_CLEAN, ended_at_us=1_000_000),
        run_counts(2, state=RunState.PLANNED),
    ]

    assert progress_of(runs, now_us=2_000_000).state is CampaignState.RUNNING
    assert progress_of(runs, now_us=10**12).state is CampaignState.INCOMPLETE


def test_what_is_left_is_told_from_finished_runs_of_the_same_arm() -> None:
    took = {"started_at_us": 1, "ended_at_us": 100_000_001}
    runs = [
        run_counts(1, arm_id=1, counts=ALL_CLEAN, **took),
        run_counts(2, arm_id=1, state=RunState.PLANNED),
        run_counts(3, arm_id=2, state=RunState.DRIVING, started_at_us=100_000_001),
    ]

    assert progress_of(runs, now_us=130_000_001).remaining_s == 170.0


def test_before_any_run_has_finished_nothing_is_said_of_what_is_left() -> None:
    assert progress_of([run_counts(state=RunState.PLANNED)], now_us=0).remaining_s is None


def test_what_the_stop_rule_spares_is_not_missing() -> None:
    runs = [
        run_counts(1, counts=ALL_CLEAN, ended_at_us=1_000_000),
        run_counts(2, state=RunState.PLANNED),
    ]
    failed = [*runs, run_counts(3, state=RunState.FAILED)]

    assert progress_of(runs, is_settled=True, now_us=10**12).state is CampaignState.DONE
    assert progress_of(failed, is_settled=True, now_us=10**12).state is CampaignState.INCOMPLETE


def test_between_the_blocks_of_one_that_is_not_decided_it_is_running() -> None:
    runs = [run_counts(1, counts=ALL_CLEAN)]

    assert progress_of(runs, asked=Asked.WORKS).state is CampaignState.DONE
    assert progress_of(runs, asked=Asked.WORKS_UNTIL_DECIDED).state is CampaignState.RUNNING


@pytest.mark.parametrize(
    ("columns", "settled"),
    [
        ({"headline": "confirmed", "rule": {"ending": "decided"}}, True),
        ({"headline": "confirmed", "rule": {"ending": "fixed"}}, False),
        ({"headline": "inconclusive", "rule": {"ending": "decided"}}, False),
        ({"headline": None, "rule": None}, False),
        ({"headline": "worse", "rule": {"ending": "decided"}, "is_registered": False}, False),
    ],
)
def test_a_campaign_is_settled_where_its_rule_has_answered_all_that_was_registered(
    columns: dict[str, object], settled: bool
) -> None:
    assert is_settled([verdict_facts(**columns)]) is settled
