import json

import pytest

from runner.errors import RecordedCaseError
from runner.evidence.evidence_file import check_evidence
from tests.runner.evidence.recorded_answers import CASES


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
    ("text", "what"),
    [
        ("{", "line 1"),
        ("[]", "neither"),
        ('{"a": 1}', "a: not in the format"),
        ('{"a": {"treatment": [], "control": []}}', "a: not in the format"),
        ('{"tables": [{"id": "T", "x1": 9, "n1": 4, "x2": 0, "n2": 1, "values": {}}]}', "T: not"),
        ('{"sequences": [{"id": "S"}]}', "S: not"),
    ],
)
def test_what_is_no_evidence_file_is_refused_with_one_sentence(text: str, what: str) -> None:
    with pytest.raises(RecordedCaseError, match=what):
        check_evidence(text)


def test_a_case_of_silence_that_is_benign_or_of_a_background_is_read_too() -> None:
    """Plans beyond the recorded ones: no criterion on corruption, and a tolerated share."""
    case = {
        "treatment": [{"clean": 79, "corrupt": 0, "error": 1, "wedges": 0}] * 3,
        "control": [{"clean": 68, "corrupt": 11, "error": 1, "wedges": 0}] * 3,
        "plan": {"p_max": 0.05, "require_zero_corrupt": False, "tol": 0.05},
        "expected": {"policy": "jump_to_baseline", "headline": "CONFIRMED", "reason": []},
    }

    assert check_evidence(json.dumps({"x": case})).differences == ()
