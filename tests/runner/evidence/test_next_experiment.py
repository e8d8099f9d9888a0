from dataclasses import replace

from runner.evidence.campaign_verdict import CampaignVerdict
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.next_experiment import ExperimentKind
from runner.evidence.run_cost import RunCost
from runner.evidence.unreproduced import sessions_to_reproduce
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


def test_silent_sessions_are_not_made_good_by_clean_runs_beside_them() -> None:
    """What one clean run more would leave of 75 silent sessions in 240 is no rate of 5 %."""
    many = verdict_of([(80, 0, 0), (5, 0, 75)])
    assert "; 1 more clean run" not in many.answers.elimination

    few = verdict_of([(35, 0, 5)], [(34, 6, 0)])
    needed = few.experiments[0].runs_after
    said = f"{needed} more clean runs of 40 are needed for 5.0 % while silent sessions count as"
    assert said in few.answers.elimination.replace("\u2009", " ").replace("\u00a0", " ")
    with_them = verdict_of([(35, 0, 5), *[(40, 0, 0)] * needed], [(34, 6, 0)])
    one_less = verdict_of([(35, 0, 5), *[(40, 0, 0)] * (needed - 1)], [(34, 6, 0)])
    assert with_them.comparison is not None and one_less.comparison is not None
    assert with_them.comparison.limits.worst_case <= 0.05 < one_less.comparison.limits.worst_case


def test_a_fault_that_did_not_show_is_reproduced_first() -> None:
    verdict = verdict_of(
        [(80, 0, 0)] * 2, [(80, 0, 0)] * 2, setting=ComparisonSetting(historical_rate=0.015)
    )

    (reproduce,) = verdict.experiments
    assert reproduce.kind is ExperimentKind.REPRODUCE
    assert sessions_to_reproduce(0.015) == 199 and "199 sessions" in reproduce.text
    assert (reproduce.runs_before, reproduce.runs_after) == (3, 0)
    assert "199 sessions there would show it" in verdict.answers.direction


def test_a_fault_that_as_many_sessions_as_show_it_did_not_show_needs_other_conditions() -> None:
    verdict = verdict_of([(80, 0, 0)] * 2, [(80, 0, 0)] * 2)

    (reproduce,) = verdict.experiments
    for said in (reproduce.text, verdict.answers.direction):
        assert "160 sessions there (2 runs) showed nothing at this load" in said
        assert "a rate of at most 3.1" in said
        assert "First reproduce" not in said and "19 sessions" not in said
    assert reproduce.kind is ExperimentKind.REPRODUCE
    assert reproduce.text.startswith("Raise the load of the arm compared with")
    assert "bring back the conditions under which the fault was seen" in reproduce.text
    assert "As many again without a corrupt one would leave at most 1.6" in reproduce.text
    assert (reproduce.runs_before, reproduce.cost.sessions) == (2, 160)


def test_sessions_of_the_arm_compared_with_cost_what_its_own_runs_do() -> None:
    verdict = verdict_of([(80, 0, 0)], [(20, 0, 0)])

    (reproduce,) = verdict.experiments
    assert "20 sessions there (1 run) showed nothing" in reproduce.text
    assert str(reproduce.cost) == "1 run, 20 sessions"


def test_silent_sessions_have_not_shown_that_a_fault_does_not_come() -> None:
    silent_before = verdict_of([(80, 0, 0)] * 2, [(5, 0, 1)] * 2)

    assert "19 sessions there would show it" in silent_before.answers.direction


def test_runs_that_share_a_launch_are_asked_for_as_launches() -> None:
    """Three runs of 40 an arm against one start of the servers; a run took two minutes."""
    labels = [f"{arm} {block}" for arm in ("after", "before") for block in (1, 2, 3)]
    shared = ComparisonSetting(
        launch_of=dict.fromkeys(labels, "launch 1"), each_run=RunCost(60, 120, gpus=0)
    )

    verdict = verdict_of([(40, 0, 0)] * 3, [(35, 5, 0)] * 3, setting=shared)

    more = verdict.experiments[0]
    assert more.text.startswith("1 more launch of 120 of the changed arm, and one more of the arm")
    assert "`restart: every_run`" in more.text and "`may_restart: true`" in more.text
    assert str(more.cost) == "2 launches, 240 sessions, 14 min"
    assert "1 more clean launch of 120 is needed for 5.0" in verdict.answers.elimination
    assert verdict.basis.startswith("Basis: 1 launch after, 1 before; with one launch in an arm")


def test_one_run_an_arm_of_one_launch_is_asked_for_as_launches_too() -> None:
    """A second run of the kind would share the launch of the first."""
    shared = ComparisonSetting(launch_of={"after 1": "launch 1", "before 1": "launch 1"})

    verdict = verdict_of([(40, 0, 0)], [(35, 5, 0)], setting=shared)

    assert "more clean launches of 40" in verdict.answers.elimination


def test_runs_of_launches_of_their_own_are_asked_for_as_runs() -> None:
    own = ComparisonSetting(launch_of={"after 1": "launch 1", "before 1": "launch 2"})

    verdict = verdict_of([(40, 0, 0)], [(35, 5, 0)], setting=own)

    assert "more clean runs of 40" in verdict.answers.elimination
    assert all("every_run" not in each.text for each in verdict.experiments)


def test_an_unclear_direction_asks_for_runs_of_both_arms() -> None:
    verdict = verdict_of([(77, 3, 0), (74, 6, 0)], [(71, 9, 0), (66, 14, 0)])

    assert kinds(verdict) == [ExperimentKind.COMPARE_SESSIONS, ExperimentKind.MORE_RUNS]
    assert verdict.experiments[1].runs_after == verdict.experiments[1].runs_before > 1


def test_a_difference_too_small_to_show_asks_for_a_larger_one() -> None:
    verdict = verdict_of([(70, 10, 0), (68, 12, 0)], [(69, 11, 0), (68, 12, 0)])

    assert "more than 16 runs" in verdict.experiments[-1].text
    assert verdict.experiments[-1].cost.launches == 0


def test_a_fault_that_is_frequent_needs_no_more_load() -> None:
    alike = verdict_of([(0, 6, 0)], [(0, 6, 0)]).experiments[-1]
    small = verdict_of([(30, 50, 0)] * 2, [(29, 51, 0)] * 2).experiments[-1]

    assert "decisive power BEFORE AFTER" in alike.text and "ask for a larger one" in small.text
    assert "load" not in alike.text and "load" not in small.text


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
    assert repair.text == "Run the 2 runs that are missing: 2 of 3 of after."


def test_runs_of_which_none_has_told_its_sessions_are_not_said_to_have_none() -> None:
    verdict = verdict_of(arm_of([], blocks=1), arm_of([], name="before", blocks=1))

    (repair,) = verdict.experiments
    assert str(repair.cost) == "2 runs"


def test_what_is_missing_stands_behind_what_must_be_put_right() -> None:
    doubtful = replace(MEASURED, unverified=("hicache",))

    verdict = verdict_of(arm_of([(80, 0, 0)], blocks=2), FAULTY, setting=doubtful)

    (repair,) = verdict.experiments
    assert repair.text == (
        "Put right: not verified: hicache; then run the run that is missing: 1 of 2 of after."
    )


def test_what_is_left_of_an_improved_fault_is_looked_into() -> None:
    verdict = verdict_of([(78, 2, 0)] * 3, [(60, 20, 0)] * 3)

    (look,) = verdict.experiments
    assert look.kind is ExperimentKind.COMPARE_SESSIONS
    assert look.text.endswith("left share: decisive clusters CAMPAIGN.")
    assert str(look.cost) == "no run"
