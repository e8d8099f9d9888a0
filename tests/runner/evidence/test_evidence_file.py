import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from runner.errors import RecordedCaseError
from runner.evidence.evidence_file import EvidenceCheck, check_evidence
from runner.evidence.recorded_tables import NotComputed
from tests.runner.evidence.recorded_answers import CASES, statistics_vectors

VERDICTS = json.loads((CASES / "verdict_cases.json").read_text(encoding="utf-8"))


def changed(case: str, change: Callable[[Any], object]) -> EvidenceCheck:
    """The check of one recorded verdict after a change to it."""
    content = {case: deepcopy(VERDICTS[case])}
    change(content[case])
    return check_evidence(json.dumps(content))


def changed_table(change: Callable[[Any], object]) -> EvidenceCheck:
    table = deepcopy(statistics_vectors()["tables"][0])
    change(table)
    return check_evidence(json.dumps({"tables": [table]}))


@pytest.mark.parametrize(
    ("name", "cases"), [("statistics_vectors.json", 23), ("verdict_cases.json", 9)]
)
def test_both_recorded_files_agree_whole(name: str, cases: int) -> None:
    check = check_evidence((CASES / name).read_text(encoding="utf-8"))

    assert (check.cases, check.differences) == (cases, ())
    assert check.right == check.of > 200


def test_one_changed_number_is_the_one_that_is_named() -> None:
    content = json.loads((CASES / "verdict_cases.json").read_text(encoding="utf-8"))
    content["02_three_clean_runs"]["expected"]["upper_used"] = 0.0209

    check = check_evidence(json.dumps(content))

    (difference,) = check.differences
    assert (difference.case, difference.quantity) == ("02_three_clean_runs", "upper_used")
    assert difference.computed == pytest.approx(0.0208, abs=5e-5)


@pytest.mark.parametrize(
    "change",
    [
        lambda case: case["expected"].update(headline="Confirmed", elimination="CONFIRMED"),
        lambda case: case["expected"].update(availability="Not-shown worse", reason=[]),
        lambda case: case.update(title="x", plan={**case["plan"], "scope": "C=80", "runs": 3}),
        lambda case: case.pop("plan"),
        lambda case: case.update(plan=None),
        lambda case: case["plan"].update(p_max=None),
        lambda case: [run.pop("error") for run in case["treatment"] + case["control"]],
        lambda case: [run.pop("wedges") for run in case["treatment"] + case["control"]],
        lambda case: [run.update(silent=run.pop("error")) for run in case["treatment"]],
        lambda case: case["treatment"][0].update(clean=80.0, node="a"),
        lambda case: case["expected"].update(upper_used=0.02, p_lower=5e-05, bounds=[0, 0]),
        lambda case: case["expected"].update(upper_used=0.0207749597),
        lambda case: case["expected"].update(note="three clean runs", _why=1),
    ],
)
def test_what_says_the_same_in_another_way_agrees(change: Callable[[Any], object]) -> None:
    check = changed("02_three_clean_runs", change)

    assert (check.differences, check.not_computed) == ((), ())
    assert check.right == check.of >= 26


def test_reasons_are_a_set_and_headlines_have_no_case_or_punctuation() -> None:
    def other_way(case: Any) -> None:
        case["expected"]["reason"].reverse()
        case["expected"]["headline"] = "Improved, not eliminated"

    assert changed("05_improved_not_eliminated", other_way).differences == ()


@pytest.mark.parametrize(
    ("change", "quantities"),
    [
        (lambda case: case["treatment"][0].update(wedges=2), {"elimination", "headline", "reason"}),
        (
            lambda case: case["treatment"][0].update(wedges=None),
            {"elimination", "headline", "reason"},
        ),
        (lambda case: case["expected"].update(upper_used=0.020774), {"upper_used"}),
        (lambda case: case["expected"].update(n=241), {"n"}),
        (lambda case: case["expected"].update(reason=["guardrail:errors_up"]), {"reason"}),
        (lambda case: case["expected"].update(icc=None, tipping_icc=0), {"icc", "tipping_icc"}),
    ],
)
def test_what_says_something_else_differs(
    change: Callable[[Any], object], quantities: set[str]
) -> None:
    check = changed("02_three_clean_runs", change)

    assert {each.quantity for each in check.differences} == quantities


def test_an_entry_that_nothing_is_computed_for_neither_agrees_nor_differs() -> None:
    check = changed("03_one_clean_run", lambda case: case["expected"].update(banana=1))

    assert check.not_computed == (NotComputed("03_one_clean_run", "banana"),)
    assert (check.right, check.of, check.differences) == (26, 26, ())


def test_intervals_of_a_table_have_the_confidence_of_its_alpha() -> None:
    # R: prop.test(56, 70, conf.level = .9, correct = FALSE) gives .7108709 and .8668017.
    wilson = {"wilson_arm1": {"value": [0.71087090, 0.86680169]}}

    check = changed_table(lambda table: table.update(alpha=0.1, values=wilson))
    usual = changed_table(lambda table: table.pop("alpha"))

    assert check.differences == usual.differences == ()


def test_values_may_stand_bare_and_a_file_may_have_a_tolerance_of_its_own() -> None:
    values = {"fisher_less": 0.9978, "newcombe_diff": [0.0524, 0.3339]}
    content = {
        "meta": {"tolerance": {"intervals": 1e-4, "p_values": 1e-4}},
        "tables": [{**statistics_vectors()["tables"][0], "values": values}],
    }

    assert check_evidence(json.dumps(content)).differences == ()
    assert len(changed_table(lambda table: table.update(values=values)).differences) == 2


def test_numbers_are_those_of_all_runs_where_a_verdict_left_clean_sessions_out() -> None:
    case = {
        "treatment": [{"clean": n, "corrupt": 0} for n in (59, 80, 5)],
        "control": [{"clean": 76, "corrupt": 4}, {"clean": 75, "corrupt": 5}],
        "expected": {"n": 144, "evaluable": 144, "headline": "confirmed"},
    }

    assert check_evidence(json.dumps({"x": case})).differences == ()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{", "line 1"),
        ("[]", "neither"),
        ("{}", "no table, sequence or verdict"),
        ('{"meta": {}}', "no table, sequence or verdict"),
        ('{"tables": []}', "no table, sequence or verdict"),
        ('{"a": 1}', "a: not in the format"),
        ('{"a": {"treatment": [], "control": []}}', "a: not in the format.*'expected' is missing"),
        (
            '{"tables": [{"id": "T", "x1": 9, "n1": 4, "x2": 0, "n2": 1, "values": {}}]}',
            "T: 9 of 4 is no rate",
        ),
        ('{"tables": [{"x1": 9}]}', "table 1: not in the format.*'id' is missing"),
        ('{"sequences": [{"id": "S"}]}', "S: not in the format.*'after' is missing"),
        (
            '{"sequences": [{"id": "S", "after": "0x", "before": "1"}]}',
            "S: after is a sequence of 0 and 1",
        ),
        ('{"meta": {"tolerance": {"intervals": -1}}, "tables": [1]}', "intervals is a number from"),
    ],
)
def test_what_is_no_evidence_file_is_refused_with_one_sentence(text: str, what: str) -> None:
    with pytest.raises(RecordedCaseError, match=what):
        check_evidence(text)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda case: case["treatment"][0].update(clean=80.5), "clean of treatment 1 is a whole"),
        (lambda case: case["treatment"][0].update(clean=-1), "from 0, not -1"),
        (lambda case: case["treatment"][0].update(clean="80"), 'not "80"'),
        (lambda case: case["treatment"][0].update(clean=True), "not true"),
        (lambda case: case["treatment"][0].update(clean=float("nan")), "not NaN"),
        (lambda case: case["treatment"][0].update(clean=10**9), "at most 1,000,000"),
        (lambda case: case["treatment"][0].pop("corrupt"), "'corrupt' is missing"),
        (lambda case: case["control"][1].update(wedges=1.5), "wedges of control 2"),
        (lambda case: case["plan"].update(p_max=5), "p_max is a number from 0 to 1, not 5"),
        (lambda case: case["plan"].update(alpha="0.05"), "alpha is a number"),
        (lambda case: case["plan"].update(claim="destroy"), "claim is one of eliminate, reduce"),
        (lambda case: case.update(treatment=case["treatment"][0]), "of another kind"),
    ],
)
def test_counts_and_plans_that_cannot_be_are_refused_with_one_sentence(
    change: Callable[[Any], object], what: str
) -> None:
    with pytest.raises(RecordedCaseError, match=what) as refused:
        changed("02_three_clean_runs", change)

    assert str(refused.value).startswith("02_three_clean_runs: ")


def test_a_case_of_silence_that_is_benign_or_of_a_background_is_read_too() -> None:
    """Plans beyond the recorded ones: no criterion on corruption, and a tolerated share."""
    case = {
        "treatment": [{"clean": 79, "corrupt": 0, "error": 1, "wedges": 0}] * 3,
        "control": [{"clean": 68, "corrupt": 11, "error": 1, "wedges": 0}] * 3,
        "plan": {"p_max": 0.05, "require_zero_corrupt": False, "tol": 0.05},
        "expected": {"policy": "jump_to_baseline", "headline": "CONFIRMED", "reason": []},
    }

    assert check_evidence(json.dumps({"x": case})).differences == ()
