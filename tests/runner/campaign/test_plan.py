"""What a campaign will cost, by arithmetic on stated assumptions."""

import pytest

from runner.campaign.earlier_times import EarlierTimes
from runner.campaign.plan import CostAssumptions, count_launches, make_plan
from tests.runner.campaign.files import CAMPAIGN, STACK, campaign, spoiled, stack

COSTS = CostAssumptions(launch_s=10, settle_s=1, generation_s=0.5, added_per_session_s=0.1)


def test_a_plan_counts_arms_runs_sessions_and_launches() -> None:
    plan = make_plan(campaign(), stack())

    assert (len(plan.arms), len(plan.runs), plan.launches) == (10, 20, 20)
    assert plan.sessions == 2 * (5 * 10 + 5 * 80)


def test_time_is_what_the_assumptions_make_it() -> None:
    plan = make_plan(campaign(), stack(), costs=COSTS)

    one_at_a_time_s = 10 * 4 * 2 * 0.5  # sessions, rounds, answers a round, seconds
    eighty_s = 1 * 4 * 2 * (0.5 + 79 * 0.1)
    assert plan.estimates["fp8 · cache=on · fp8-sized · C=1"].driving_s == pytest.approx(
        one_at_a_time_s
    )
    assert plan.estimates["fp8 · cache=on · fp8-sized · C=80"].driving_s == pytest.approx(eighty_s)
    assert plan.seconds == pytest.approx(20 * (10 + 1) + 10 * (one_at_a_time_s + eighty_s))


def test_slow_tools_cost_their_mean() -> None:
    text = spoiled(
        CAMPAIGN, "workload:\n", "workload:\n  tool_latency: {median_ms: 1000, sigma: 0}\n"
    )

    plan = make_plan(campaign(text), stack(), costs=COSTS)

    assert plan.estimates["fp8 · cache=on · fp8-sized · C=1"].driving_s == pytest.approx(10 * 4 * 2)
    assert "1 s a tool call on average" in plan.assumptions


def test_an_earlier_run_counts_for_more_than_an_assumption() -> None:
    name = "fp8 · cache=on · fp8-sized · C=80"

    plan = make_plan(campaign(), stack(), costs=COSTS, earlier=EarlierTimes({name: 30.0}, None))

    assert plan.estimates[name].driving_s == 30.0
    assert [each for each, estimate in plan.estimates.items() if estimate.is_measured] == [name]
    assert "1 of 10 arms as their earlier runs took" in plan.assumptions


def test_what_was_assumed_is_said() -> None:
    assert make_plan(campaign(), stack(), costs=COSTS).assumptions == (
        "10 s for a start of the servers, proof of the arm and warm-up",
        "1 s for the servers to drain after a run",
        "0.5 s an answer at one session, 0.1 s more for each other session in flight",
    )


def test_arms_that_share_flags_share_a_launch_where_that_is_allowed() -> None:
    text = spoiled(CAMPAIGN, "order_seed: 7", "order_seed: 7, restart: when_needed")
    loaded = campaign(text)

    plan = make_plan(loaded, stack())

    # Five settings of the flags a block; the second may begin with the flags the first ended with.
    assert plan.launches in (9, 10)


def test_a_stack_that_is_not_ours_to_restart_is_not_launched() -> None:
    plan = make_plan(campaign(), stack())
    fixed = stack(spoiled(STACK, "may_restart: true", "may_restart: false"))

    assert count_launches(campaign(), fixed, plan.runs) == 0


def test_levels_that_nothing_proves_are_told_before_the_first_run() -> None:
    warnings = make_plan(campaign(), stack()).warnings

    assert [warning for warning in warnings if "nothing proves" in warning] == [
        f"nothing proves {levels} (no verify in the stack file), so that verdicts on these arms "
        "stay inconclusive, however much is run"
        for levels in ("cache=off and cache=on", "pool=fp8-sized and pool=dtype-aware")
    ]


def test_a_level_that_is_proved_and_one_that_only_requests_carry_are_not_told() -> None:
    text = spoiled(
        STACK, "    off: {}\n", "    off: {verify: [{server_info: cache, equals: no}]}\n"
    )
    text = spoiled(
        text, "exercise: [{counter: hits}]", "verify: [{server_info: cache, equals: yes}]"
    )
    text = spoiled(text, "{env: {POOL: fp8}}", "{request: {pool: fp8}}")
    text = spoiled(text, "{env: {POOL: dtype}}", "{request: {pool: dtype}}")

    assert not any("nothing proves" in each for each in make_plan(campaign(), stack(text)).warnings)
