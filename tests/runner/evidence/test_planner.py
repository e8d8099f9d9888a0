import pytest

from runner.evidence.decision_rule import ClaimKind, DecisionRule
from runner.evidence.planner import (
    ComparisonPlan,
    assess_plan,
    quick_shortcoming,
    runs_for_power,
)
from runner.evidence.power_table import power_table
from runner.evidence.run_cost import RunCost, cost_of


def plan(runs_after: int, runs_before: int, **changes: object) -> ComparisonPlan:
    return ComparisonPlan(
        **{"runs_after": runs_after, "runs_before": runs_before, "sessions": 80, **changes}
    )


def test_one_run_an_arm_cannot_answer_its_hypothesis_and_says_what_would() -> None:
    assessment = assess_plan(plan(1, 1))

    assert not assessment.can_answer
    cannot_confirm, unlikely = assessment.shortcomings
    assert "leaves a rate of up to 9.2" in cannot_confirm and "It takes 2 runs" in cannot_confirm
    assert "Unlikely to show a change from 15.0" in unlikely


def test_three_runs_an_arm_answer_it() -> None:
    assessment = assess_plan(plan(3, 3))

    assert assessment.can_answer
    assert assessment.limit_if_clean == pytest.approx(0.0208, abs=5e-5)
    assert assessment.clean_runs_needed == 2
    assert assessment.power > 0.95
    assert assessment.wedge_limit == pytest.approx(0.63, abs=0.005)


def test_a_small_effect_needs_more_runs_than_it_has() -> None:
    assessment = assess_plan(plan(3, 3, after_rate=0.06))

    assert assessment.power == pytest.approx(0.54, abs=0.04)
    assert assessment.runs_for_power in (5, 6)
    assert assessment.smallest_effect == pytest.approx(0.03, abs=0.015)
    assert len(assessment.shortcomings) == 1


def test_a_claim_to_reduce_needs_no_limit() -> None:
    reduce = DecisionRule(claim=ClaimKind.REDUCE)

    assessment = assess_plan(plan(1, 3), rule=reduce)

    assert not any("Cannot confirm" in each for each in assessment.shortcomings)
    assert assessment.clean_runs_needed is None


def test_the_cost_counts_launches_sessions_time_and_gpu_minutes() -> None:
    assumed = RunCost(launch_s=480, drive_s=720, gpus=8)

    cost = cost_of(4, sessions=80, each=assumed)

    assert (cost.launches, cost.sessions) == (4, 320)
    assert (cost.wall_s, cost.gpu_minutes) == (4800, 640)
    assert str(cost) == "4 runs, 320 sessions, 1 h 20 min, 640 GPU minutes"


def test_runs_that_share_launches_cost_fewer() -> None:
    assumed = RunCost(launch_s=480, drive_s=720, gpus=8)

    cost = cost_of(6, sessions=80, each=assumed, launches=2)

    assert (cost.launches, cost.wall_s) == (2, 2 * 480 + 6 * 720)


def test_a_plan_whose_runs_share_a_launch_speaks_of_launches_and_says_what_would_help() -> None:
    cannot_confirm, unlikely = assess_plan(
        plan(1, 1, sessions=120, runs_share_launches=True)
    ).shortcomings

    assert "1 launch of 120 sessions without a corrupt one leaves a rate" in cannot_confirm
    assert "It takes 2 launches: restart the servers between blocks" in cannot_confirm
    assert "(`tolerate: 0.077`)" in cannot_confirm
    assert "twice as many leave up to 5.9" in cannot_confirm
    assert "1 + 1 launches (ICC 0.05)" in unlikely
    assert "3 launches an arm: restart the servers" in unlikely
    for said in (cannot_confirm, unlikely):
        assert "`restart: every_run`" in said and "`may_restart: true`" in said
        assert " run " not in said and " runs " not in said


def test_a_rate_that_the_plan_says_can_be_tolerated_can_be_confirmed() -> None:
    shared = plan(1, 1, sessions=120, runs_share_launches=True)

    tolerant = assess_plan(shared, rule=DecisionRule(p_max=0.077)).shortcomings

    assert not any("Cannot confirm" in each for each in tolerant)


def test_more_sessions_in_a_launch_are_named_where_they_would_do() -> None:
    shared = plan(1, 1, sessions=240, runs_share_launches=True)

    cannot_confirm = assess_plan(shared).shortcomings[0]

    assert "twice as many sessions in a launch would leave up to 4.8" in cannot_confirm
    assert "help little" not in cannot_confirm


def test_benign_silence_is_borne_up_to_the_tolerated_share() -> None:
    assert assess_plan(plan(2, 2)).silent_borne == 8
    assert assess_plan(plan(1, 2)).silent_borne is None


@pytest.mark.parametrize(
    ("after", "rho", "runs"),
    [(0.06, 0.0, 3), (0.06, 0.05, 9), (0.03, 0.02, 3), (0.0, 0.02, 2), (0.0, 0.05, 3)],
)
def test_the_runs_that_an_effect_needs_are_as_published(
    after: float, rho: float, runs: int
) -> None:
    assert runs_for_power(plan(2, 2, after_rate=after), rho=rho) == runs


def test_no_number_of_runs_shows_an_effect_that_is_not_predicted() -> None:
    assert runs_for_power(plan(2, 2, after_rate=0.15), rho=0.02) is None
    assert runs_for_power(plan(2, 2, after_rate=0.14), rho=0.02) is None


def test_equal_plans_get_equal_answers() -> None:
    assert assess_plan(plan(3, 3), seed=5) == assess_plan(plan(3, 3), seed=5)


def test_the_power_table_gives_sessions_and_runs_for_both_powers() -> None:
    rows = power_table(0.15, 0.06)

    assert [(row.power, row.sessions.kept) for row in rows] == [(0.8, 148), (0.9, 205)]
    assert rows[0].runs == {0.0: 3, 0.02: 6, 0.05: 9}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"runs_share_launches": True},
        {"runs_after": 3, "runs_before": 3},
        {"runs_after": 2, "runs_before": 2, "after_rate": 0.1},
    ],
)
def test_what_is_told_quickly_is_what_the_whole_assessment_finds(changes: dict[str, int]) -> None:
    asked = plan(**{"runs_after": 1, "runs_before": 1, **changes})

    quick = quick_shortcoming(asked, rule=DecisionRule())

    whole = assess_plan(asked).shortcomings
    assert (quick is None) == (not whole)
    assert quick is None or whole[0].startswith(f"{quick}.")


def test_the_power_of_a_large_plan_is_not_worked_out_to_be_quick() -> None:
    large = plan(3, 3, sessions=500, after_rate=0.14)

    assert quick_shortcoming(large, rule=DecisionRule()) is None


def test_a_prediction_above_the_rate_there_is_told_apart_from_too_few_runs() -> None:
    plan = ComparisonPlan(
        runs_after=2, runs_before=2, sessions=80, before_rate=0.15, after_rate=0.2
    )

    (shortcoming,) = assess_plan(plan, rule=DecisionRule(claim=ClaimKind.REDUCE)).shortcomings

    assert shortcoming.startswith("Cannot show a fall: the predicted rate of 20.0")
    assert "more than 16 runs" not in shortcoming
