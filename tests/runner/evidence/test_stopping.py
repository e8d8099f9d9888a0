from runner.evidence.decision_rule import DecisionRule, Ending
from runner.evidence.silent_sessions import LaunchCounts
from runner.evidence.stopping import (
    StopReason,
    advice_between_runs,
    advice_for_versus,
    advice_within_run,
)

CLEAN, FAULTY = LaunchCounts(80, 0, 0), LaunchCounts(68, 12, 0)
DECIDED = DecisionRule(ending=Ending.DECIDED)


def test_a_fixed_plan_runs_to_its_end() -> None:
    run = LaunchCounts(clean=3, corrupt=4, silent=0)

    assert (
        advice_within_run(run, sessions_planned=80, criterion_failed=True, rule=DecisionRule())
        is None
    )
    assert advice_between_runs([CLEAN] * 4, [FAULTY] * 4, rule=DecisionRule(), wedges=0) is None


def test_the_first_corrupt_session_ends_a_run_and_the_cost_is_told() -> None:
    rule = DecisionRule(ending=Ending.FIRST_CORRUPT)
    run = LaunchCounts(clean=6, corrupt=1, silent=0)

    advice = advice_within_run(run, sessions_planned=80, criterion_failed=True, rule=rule)

    assert advice is not None and advice.reason is StopReason.FIRST_CORRUPT
    assert "7 of 80 sessions ended" in advice.cost and "no usable rate" in advice.cost


def test_a_wedge_decides_only_where_the_answer_ends_the_run() -> None:
    run = LaunchCounts(clean=6, corrupt=0, silent=0)
    first_corrupt = DecisionRule(ending=Ending.FIRST_CORRUPT)

    advice = advice_within_run(run, sessions_planned=80, criterion_failed=True, rule=DECIDED)

    assert advice is not None and advice.reason is StopReason.CRITERION_FAILED
    assert (
        advice_within_run(run, sessions_planned=80, criterion_failed=True, rule=first_corrupt)
        is None
    )


def test_clean_runs_confirm_between_runs_once_both_processes_have_crossed() -> None:
    advice = [
        advice_between_runs([CLEAN] * runs, [FAULTY] * runs, rule=DECIDED, wedges=0)
        for runs in (1, 2)
    ]

    assert advice[0] is None
    assert advice[1] is not None and advice[1].reason is StopReason.CONFIRMED
    assert "2 runs" in advice[1].text


def test_silence_wedges_or_wedges_not_counted_never_let_it_confirm() -> None:
    silent = LaunchCounts(clean=79, corrupt=0, silent=1)

    assert advice_between_runs([CLEAN, silent], [FAULTY] * 2, rule=DECIDED, wedges=0) is None
    assert advice_between_runs([CLEAN] * 2, [FAULTY] * 2, rule=DECIDED, wedges=1) is None
    assert advice_between_runs([CLEAN] * 2, [FAULTY] * 2, rule=DECIDED, wedges=None) is None


def test_an_arm_compared_with_that_never_failed_confirms_nothing() -> None:
    assert advice_between_runs([CLEAN] * 6, [CLEAN] * 6, rule=DECIDED, wedges=0) is None


def test_once_the_direction_is_shown_the_arm_compared_with_rests_and_the_other_goes_on() -> None:
    frequent = LaunchCounts(40, 40, 0)
    rule = DecisionRule(ending=Ending.DECIDED, rho_max=0.02)

    rests = advice_for_versus([CLEAN], [frequent], rule=rule)

    assert rests is not None and rests.reason is StopReason.DIRECTION_SHOWN
    assert advice_between_runs([CLEAN], [frequent], rule=rule, wedges=0) is None
    confirmed = advice_between_runs([CLEAN] * 2, [frequent], rule=rule, wedges=0)
    assert confirmed is not None and confirmed.reason is StopReason.CONFIRMED
    assert advice_for_versus([CLEAN], [frequent], rule=DecisionRule()) is None


def test_hypotheses_that_share_the_risk_raise_the_bar() -> None:
    alone = DecisionRule(ending=Ending.DECIDED)
    among_ten = DecisionRule(ending=Ending.DECIDED, hypotheses=10)

    assert (alone.direction_bar, among_ten.direction_bar) == (20, 200)
    pairs = [CLEAN] * 2, [FAULTY] * 2
    assert advice_between_runs(*pairs, rule=alone, wedges=0) is not None
    assert advice_between_runs(*pairs, rule=among_ten, wedges=0) is None
