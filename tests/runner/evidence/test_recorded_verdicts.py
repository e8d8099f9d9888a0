import json
from typing import Any

import pytest

from runner.evidence.campaign_verdict import judge_hypothesis
from runner.evidence.given_numbers import read_json
from runner.evidence.recorded_verdicts import recorded_question, verdict_differences
from runner.evidence.verdict_text import verdict_lines
from tests.runner.evidence.recorded_answers import SENTENCES, verdict_cases

CASES = verdict_cases()


@pytest.mark.parametrize("name", CASES)
def test_every_number_answer_and_reason_of_a_recorded_verdict_is_reached(name: str) -> None:
    differences = dict(verdict_differences(name, CASES[name]))

    assert len(differences) == len(CASES[name]["expected"]) == 26
    assert [each for each in differences.values() if each] == []


@pytest.mark.parametrize(
    ("quantity", "wrong"),
    [
        ("headline", "CONFIRMED"),
        ("corrupt", 6),
        ("p_higher", 0.8004),
        ("bounds_ci", [0.0207, 1.0]),
        ("icc", 0.01),
        ("policy", "none_needed"),
        ("availability", "not shown worse"),
        ("reason", ["direction:censoring"]),
        ("p_errors_up", 7.862e-13),
        ("tipping_icc", 0.05),
    ],
)
def test_a_wrong_entry_of_a_recorded_verdict_is_found(quantity: str, wrong: Any) -> None:
    case = CASES["01_real_case"]

    differences = dict(verdict_differences("x", {**case, "expected": {quantity: numbers(wrong)}}))

    assert differences[quantity] is not None
    assert differences[quantity].quantity == quantity


def numbers(value: Any) -> Any:
    """As a file gives them, with the precision of their text."""
    return read_json(json.dumps(value))


def test_headlines_are_compared_without_case_and_reasons_as_a_set() -> None:
    case = CASES["01_real_case"]
    expected = {"headline": "refuted", "reason": case["expected"]["reason"][::-1]}

    assert not any(dict(verdict_differences("x", {**case, "expected": expected})).values())


def test_the_sentences_of_all_recorded_verdicts_are_the_agreed_ones() -> None:
    """The agreed text lies in the file; a change of wording is a change of that file."""
    rendered = "\n\n".join(
        "\n".join([name, *verdict_lines(judge_hypothesis(recorded_question(case)))])
        for name, case in CASES.items()
    )

    assert rendered + "\n" == SENTENCES.read_text(encoding="utf-8")
