"""The recorded pages of metrics, and that a wrong reading of one would be noticed."""

import json
from pathlib import Path

import pytest

from runner.judge.recorded_cases import compare_cases
from runner.observe.metrics_cases import read_metrics_case

CASES = Path(__file__).resolve().parents[2] / "data" / "cases"
LINES = [
    line
    for file in ("cases.jsonl", "own_recordings.jsonl")
    for line in (CASES / file).read_text("utf-8").splitlines()
    if json.loads(line)["kind"] == "metrics"
]
READERS = {"metrics": read_metrics_case}


@pytest.mark.parametrize("line", LINES, ids=[json.loads(line)["id"] for line in LINES])
def test_a_recorded_page_is_read_right(line: str) -> None:
    (reading,) = compare_cases([line], source="cases", readers=READERS).readings

    assert reading.is_right, reading.got


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "idle"},
        {"values": {"running": 14}},
        {"values": {"decode_transfer": 1}},
        {"never": ["busy"]},
        {"wrong_if": {"running": 7}},
    ],
)
def test_an_expectation_that_is_not_met_is_told(change: dict[str, object]) -> None:
    case = json.loads(next(line for line in LINES if '"met-sgl-dp-tp"' in line))
    case["expect"] |= change

    (reading,) = compare_cases([json.dumps(case)], source="cases", readers=READERS).readings

    assert not reading.is_right
