"""When a criterion failed, when it did not, and when nobody can tell."""

import pytest

from db.vocabulary import RunState
from runner.campaign.prediction import parse_prediction
from runner.evidence.arm_evidence import ArmEvidence
from runner.evidence.criteria import CriterionState, check_criteria
from tests.runner.evidence.arms import arm, run

FAILED, NOT_FAILED, UNCHECKED = CriterionState


def state_of(criterion: str, evidence: ArmEvidence) -> CriterionState:
    [result] = check_criteria(parse_prediction(criterion), evidence)
    return result.state


@pytest.mark.parametrize(
    ("criterion", "outcomes", "state"),
    [
        ("corrupt == 0", {"done": 80}, NOT_FAILED),
        ("corrupt == 0", {"done": 79, "wrong": 1}, FAILED),
        ("corrupt <= 2", {"leak": 1, "no_tool": 1}, NOT_FAILED),
        ("corrupt < 2", {"leak": 1, "no_tool": 1}, FAILED),
        ("silent == 0", {"error": 1}, FAILED),
        ("silent == 0", {"harness_error": 1}, NOT_FAILED),
        ("error <= 4", {"error": 5}, FAILED),
        ("done == 80", {"done": 80}, NOT_FAILED),
        ("done == 80", {"done": 79, "leak": 1}, FAILED),
        ("done == 80", {"done": 79, "error": 1}, NOT_FAILED),
    ],
)
def test_a_count_is_held_against_its_criterion(
    criterion: str, outcomes: dict[str, int], state: CriterionState
) -> None:
    assert state_of(criterion, arm(run(outcomes))) is state


def test_runs_are_added_before_they_are_judged() -> None:
    evidence = arm(run({"leak": 1}, block=1), run({"leak": 1}, block=2))

    assert state_of("corrupt <= 1", evidence) is FAILED


def test_a_number_not_reached_is_no_failure_while_runs_are_missing() -> None:
    assert state_of("done == 80", arm(run({"done": 79}), blocks=2)) is NOT_FAILED


def test_wedges_that_nobody_counted_cannot_be_checked() -> None:
    assert state_of("wedges == 0", arm(run({"done": 1}, wedge_lines=9))) is UNCHECKED


def test_a_wedge_in_one_run_fails_even_where_another_was_not_watched() -> None:
    watched, unwatched = run({}, block=1, wedges=1), run({}, block=2)

    assert state_of("wedges == 0", arm(watched, unwatched)) is FAILED
    assert state_of("wedges <= 1", arm(watched, unwatched)) is UNCHECKED
    assert state_of("wedges <= 1", arm(watched)) is NOT_FAILED


def test_nothing_can_be_checked_without_a_run_that_counts() -> None:
    assert state_of("corrupt == 0", arm(run({"done": 5}, state=RunState.STOPPED))) is UNCHECKED
    assert state_of("corrupt == 0", arm(run({"leak": 5}, state=RunState.FAILED))) is UNCHECKED
    assert state_of("corrupt == 0", arm(blocks=3)) is UNCHECKED


def test_corruption_and_wedges_of_a_stopped_run_break_a_prediction_and_silence_does_not() -> None:
    stopped = arm(run({"leak": 5, "error": 3}, state=RunState.STOPPED, wedges=1))

    assert state_of("corrupt == 0", stopped) is FAILED
    assert state_of("leak == 0", stopped) is FAILED
    assert state_of("wedges == 0", stopped) is FAILED
    assert state_of("no_tool == 0", stopped) is UNCHECKED
    assert state_of("silent == 0", stopped) is UNCHECKED
