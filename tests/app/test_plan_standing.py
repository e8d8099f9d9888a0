"""Queueing is told before it is done: all, what is missing, or nothing at all."""

from app.plan_standing import PlanStanding, standing_of
from db.reads.runs import RunCounts
from db.vocabulary import RunState
from runner.campaign.narrowing import narrow_campaign
from runner.campaign.plan import Plan, make_plan
from tests.app.values import run_counts
from tests.runner.campaign.files import campaign, stack


def plan_of(blocks: int = 2) -> Plan:
    return make_plan(narrow_campaign(campaign(), {}, blocks=blocks), stack())


def runs_of(plan: Plan, state: RunState = RunState.DONE) -> list[RunCounts]:
    return [
        run_counts(number, run_key=run.run_key, block=run.block, state=state)
        for number, run in enumerate(plan.runs, start=1)
    ]


def test_a_plan_that_the_store_does_not_know_is_new() -> None:
    standing = standing_of(plan_of(), None, [])

    assert standing.sentence == "A new campaign."
    assert standing.runs_missing == standing.runs
    assert standing.sessions_missing == plan_of().sessions


def test_a_plan_whose_runs_are_all_done_runs_nothing_and_says_so() -> None:
    standing = standing_of(plan_of(), 3, runs_of(plan_of()))

    assert standing.runs_nothing
    assert "queueing it runs nothing" in standing.sentence


def test_runs_that_do_not_count_are_run_again() -> None:
    stored = runs_of(plan_of())
    stored[0] = run_counts(1, run_key=stored[0].run_key, state=RunState.FAILED)
    stored[1] = run_counts(2, run_key=stored[1].run_key, state=RunState.PLANNED)

    standing = standing_of(plan_of(), 3, stored)

    assert (standing.runs_missing, standing.failed) == (2, 1)
    assert "2 runs to do, 1 of them again" in standing.sentence


def test_more_blocks_leave_what_is_done_and_extend() -> None:
    before, after = plan_of(2), plan_of(3)

    standing = standing_of(after, 3, runs_of(before))

    assert standing.runs_missing == len(after.runs) - len(before.runs)
    assert standing.extends(3)
    assert not standing.extends(2)


def test_a_new_campaign_extends_nothing() -> None:
    new = PlanStanding(None, runs=6, runs_missing=6, sessions_missing=480, blocks_before=None)

    assert not new.extends(9)
