from dataclasses import replace

import pytest

from runner.campaign.prediction import parse_prediction
from runner.evidence.decision_rule import ClaimKind, DecisionRule, Ending
from runner.evidence.run_block_process import RunPair
from runner.evidence.silent_sessions import LaunchCounts
from runner.evidence.stopping import (
    StopReason,
    advice_at_look,
    advice_between_runs,
    advice_for_versus,
    advice_within_run,
    ends_at_first_corrupt,
    run_pairs,
)
from tests.runner.evidence.table_oracles import correlated_upper

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


@pytest.mark.parametrize("missing", ["after", "before"])
@pytest.mark.parametrize("ending", [Ending.DECIDED, Ending.TWO_LOOKS])
def test_nothing_is_advised_before_both_arms_have_a_run(ending: Ending, missing: str) -> None:
    rule = DecisionRule(ending=ending)
    after, before = ([], [FAULTY]) if missing == "after" else ([CLEAN], [])

    assert advice_between_runs(after, before, rule=rule, wedges=0) is None
    assert advice_at_look(after, before, rule=rule, wedges=0, criterion_failed=True) is None
    assert advice_for_versus(after, before, rule=rule) is None


def test_a_low_rate_alone_or_a_direction_alone_does_not_confirm() -> None:
    """Each process has to cross by itself."""
    frequent = LaunchCounts(40, 40, 0)

    assert advice_between_runs(
        [CLEAN] * 2, [LaunchCounts(79, 1, 0)] * 2, rule=DECIDED, wedges=0
    ) is (None)
    strict = replace(DECIDED, p_max=0.01)
    assert advice_between_runs([CLEAN] * 2, [frequent] * 2, rule=strict, wedges=0) is None
    assert advice_for_versus([CLEAN] * 2, [frequent] * 2, rule=strict) is not None


def test_a_confirmation_tells_the_limit_and_the_bar() -> None:
    advice = advice_between_runs([CLEAN] * 2, [FAULTY] * 2, rule=DECIDED, wedges=0)

    assert advice is not None
    # At the ICC of 0.05 that the process holds for, not at the floor of 0.02 (3.1 %).
    assert correlated_upper(0, [80, 80], 0.05) == pytest.approx(0.047, abs=5e-4)
    assert "at most 4.7\u2009% is left" in advice.text and "needed 20" in advice.text


def test_more_runs_of_one_arm_wait_for_their_partners() -> None:
    silent = LaunchCounts(70, 4, 6)

    assert run_pairs([silent, CLEAN], [silent]) == (RunPair(10, 80, 4, 80),)
    assert advice_for_versus([CLEAN] * 5, [FAULTY], rule=DECIDED) is None


LOOKS = DecisionRule(ending=Ending.TWO_LOOKS)
OFTEN = [LaunchCounts(66, 14, 0), LaunchCounts(65, 15, 0)]


def look_advice(
    after: list[LaunchCounts],
    before: list[LaunchCounts],
    *,
    rule: DecisionRule = LOOKS,
    wedges: int | None = 0,
    criterion_failed: bool = False,
) -> str:
    advice = advice_at_look(
        after, before, rule=rule, wedges=wedges, criterion_failed=criterion_failed
    )
    assert advice is None or advice.reason is StopReason.PLANNED_LOOK
    return "" if advice is None else advice.text


def test_a_look_answers_a_claim_to_eliminate_when_direction_and_limit_are_there() -> None:
    assert "corruption is lower" in look_advice([CLEAN] * 2, OFTEN)
    assert look_advice([CLEAN], OFTEN[:1]) == ""
    assert look_advice([CLEAN] * 2, [CLEAN] * 2) == ""
    assert look_advice([CLEAN] * 2, OFTEN, wedges=None) == ""
    assert look_advice([CLEAN] * 2, OFTEN, wedges=1) == ""
    assert look_advice([CLEAN] * 2, OFTEN, rule=replace(LOOKS, p_max=0.03)) == ""
    assert look_advice([CLEAN] * 2, OFTEN, rule=replace(LOOKS, p_max=0.0312)) != ""
    assert look_advice([CLEAN] * 2, OFTEN, rule=DecisionRule()) == ""


def test_a_look_answers_a_failed_prediction_or_a_reduction_by_direction_alone() -> None:
    fewer = [LaunchCounts(79, 1, 0), LaunchCounts(78, 2, 0)]
    reduce = replace(LOOKS, claim=ClaimKind.REDUCE, p_max=0.01)

    assert look_advice(fewer, OFTEN) == ""
    assert "corruption is lower" in look_advice(fewer, OFTEN, criterion_failed=True)
    assert "corruption is lower" in look_advice(fewer, OFTEN, rule=reduce)
    assert "corruption is higher" in look_advice(OFTEN, fewer, criterion_failed=True)
    assert "corruption is higher" in look_advice(OFTEN, fewer, rule=reduce)
    assert look_advice(OFTEN, OFTEN, criterion_failed=True) == ""


def test_a_look_counts_silence_against_what_it_would_find() -> None:
    silent = [LaunchCounts(66, 0, 14), LaunchCounts(65, 0, 15)]

    assert look_advice(silent, OFTEN, criterion_failed=True) == ""
    assert look_advice([CLEAN] * 2, silent, criterion_failed=True) == ""


def test_hypotheses_that_share_the_risk_raise_the_bar_of_a_look() -> None:
    # The least p-value of a look that these runs can give lies between 0.05 / 2 and 0.05 / 100.
    shared = replace(LOOKS, hypotheses=100)

    assert look_advice([CLEAN] * 2, OFTEN) != ""
    assert look_advice([CLEAN] * 2, OFTEN, rule=shared) == ""
    assert advice_for_versus([CLEAN] * 2, OFTEN, rule=LOOKS) is not None
    assert advice_for_versus([CLEAN] * 2, OFTEN, rule=shared) is None
    assert advice_for_versus(OFTEN, [CLEAN] * 2, rule=LOOKS) is None


def test_one_corrupt_session_ends_a_run_only_where_it_answers_the_hypothesis() -> None:
    none, few = parse_prediction("corrupt == 0 and wedges == 0"), parse_prediction("corrupt <= 1")
    rule = DecisionRule(ending=Ending.FIRST_CORRUPT)

    assert ends_at_first_corrupt(none, rule) and ends_at_first_corrupt(none, DECIDED)
    assert not ends_at_first_corrupt(few, rule)
    assert not ends_at_first_corrupt(parse_prediction("wedges == 0"), rule)
    assert not ends_at_first_corrupt(none, DecisionRule())
    assert not ends_at_first_corrupt(none, LOOKS)
    assert not ends_at_first_corrupt(none, replace(rule, claim=ClaimKind.REDUCE))
    assert not ends_at_first_corrupt(none, replace(rule, background=0.01))


def test_the_look_that_answered_is_the_one_that_is_told() -> None:
    fewer = [LaunchCounts(76, 4, 0), LaunchCounts(70, 10, 0), LaunchCounts(78, 2, 0)]
    more = [*OFTEN, LaunchCounts(64, 16, 0), LaunchCounts(65, 15, 0)]

    assert "after 2 runs an arm" in look_advice([CLEAN] * 2, OFTEN)
    assert look_advice(fewer[:2], more[:2], criterion_failed=True) == ""
    assert look_advice(fewer, more[:3], criterion_failed=True) == ""
    assert "after 4 runs an arm" in look_advice(
        [*fewer, LaunchCounts(77, 3, 0)], more, criterion_failed=True
    )


def test_no_silence_is_benign_when_a_look_might_stop_the_runs() -> None:
    frequent = [LaunchCounts(40, 40, 0), LaunchCounts(41, 39, 0)]
    silent = [CLEAN, LaunchCounts(78, 0, 2)]

    # At their worst two of 160 leave 5.6 %; as the baseline has it, it would be 4 %.
    assert look_advice(silent, frequent) == ""
    assert look_advice(silent, frequent, rule=replace(LOOKS, p_max=0.06)) != ""
