from runner.evidence.campaign_verdict import CampaignVerdict
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.next_experiment import ExperimentKind, sessions_to_reproduce
from runner.evidence.run_cost import RunCost
from tests.runner.evidence.verdicts import FAULTY, arm_of, verdict_of

MEASURED = ComparisonSetting(each_run=RunCost(launch_s=480, drive_s=720, gpus=8))


def kinds(verdict: CampaignVerdict) -> list[ExperimentKind]:
    return [experiment.kind for experiment in verdict.experiments]


def test_a_wedged_run_is_looked_into_before_any_run_is_spent() -> None:
    verdict = verdict_of(arm_of([(0, 5, 75)], wedges=1), [(68, 12, 0)], setting=MEASURED)

    look, rerun = verdict.experiments
    assert look.kind is ExperimentKind.FIND_SILENCE and look.cost.launches == 0
    assert (rerun.runs_after, rerun.runs_before, rerun.sessions) == (2, 2, 80)
    assert "at most 8 of 160" in rerun.text and "(1 for any other)" in rerun.text
    assert (rerun.cost.wall_s, rerun.cost.gpu_minutes) == (4800, 640)


def test_too_few_clean_sessions_ask_for_the_clean_runs_that_are_missing() -> None:
    verdict = verdict_of([(80, 0, 0)], [(68, 12, 0)])

    (more,) = verdict.experiments
    assert more.kind is ExperimentKind.MORE_CLEAN_RUNS
    assert (more.runs_after, more.runs_before) == (1, 1)


def test_a_fault_that_did_not_show_is_reproduced_first() -> None:
    verdict = verdict_of(
        [(80, 0, 0)] * 2, [(80, 0, 0)] * 2, setting=ComparisonSetting(historical_rate=0.02)
    )

    (reproduce,) = verdict.experiments
    assert reproduce.kind is ExperimentKind.REPRODUCE
    assert sessions_to_reproduce(0.02) == 149 and "149 sessions" in reproduce.text
    assert (reproduce.runs_before, reproduce.runs_after) == (2, 0)


def test_an_unclear_direction_asks_for_runs_of_both_arms() -> None:
    verdict = verdict_of([(77, 3, 0), (74, 6, 0)], [(71, 9, 0), (66, 14, 0)])

    assert kinds(verdict) == [ExperimentKind.COMPARE_SESSIONS, ExperimentKind.MORE_RUNS]
    assert verdict.experiments[1].runs_after == verdict.experiments[1].runs_before > 1


def test_a_difference_too_small_to_show_asks_for_a_larger_one() -> None:
    verdict = verdict_of([(70, 10, 0), (68, 12, 0)], [(69, 11, 0), (68, 12, 0)])

    assert "more than 16 runs" in verdict.experiments[-1].text
    assert verdict.experiments[-1].cost.launches == 0


def test_a_confirmation_says_what_more_runs_would_add() -> None:
    verdict = verdict_of([(80, 0, 0)] * 3, FAULTY)

    (lower,) = verdict.experiments
    assert lower.kind is ExperimentKind.LOWER_LIMIT
    assert "lower the limit to 1.0" in lower.text


def test_missing_runs_are_the_experiment() -> None:
    verdict = verdict_of(arm_of([(80, 0, 0)], blocks=3), FAULTY, setting=MEASURED)

    (repair,) = verdict.experiments
    assert repair.kind is ExperimentKind.REPAIR_COMPARISON
    assert (repair.runs_after, repair.runs_before, repair.cost.sessions) == (2, 0, 160)


def test_what_is_left_of_an_improved_fault_is_looked_into() -> None:
    verdict = verdict_of([(78, 2, 0)] * 3, [(60, 20, 0)] * 3)

    assert kinds(verdict) == [ExperimentKind.COMPARE_SESSIONS]
