"""The recorded logs, and that a wrong reading of one would be noticed."""

import json
from pathlib import Path

import pytest

from runner.judge.recorded_cases import compare_cases
from runner.observe.case_readers import case_readers
from tests.runner.observe.catalogue import CATALOGUE

CASES = Path(__file__).resolve().parents[2] / "data" / "cases"
LINES = [
    line
    for file in ("cases.jsonl", "own_recordings.jsonl")
    for line in (CASES / file).read_text("utf-8").splitlines()
    if json.loads(line)["kind"] == "log"
]
READERS = case_readers(CATALOGUE)


@pytest.mark.parametrize("line", LINES, ids=[json.loads(line)["id"] for line in LINES])
def test_a_recorded_log_is_read_right(line: str) -> None:
    (reading,) = compare_cases([line], source="cases", readers=READERS).readings

    assert reading.is_right, reading.got


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "benign"},
        {"events": []},
        {"events": [{"kind": "kv_wait_timeout", "class": "wedge", "unique_requests": 4}]},
        {"events": [{"kind": "kv_wait_timeout", "class": "abort"}]},
        {"events": [{"kind": "kv_wait_timeout", "ranks": [6]}]},
        {"must_not_report": ["kv_wait_timeout"]},
        {"must_not_report": ["wedge"]},
        {"n_records": 6},
    ],
)
def test_an_expectation_that_is_not_met_is_told(change: dict[str, object]) -> None:
    case = json.loads(next(line for line in LINES if '"log-sgl-pd-waiting"' in line))
    case["expect"] |= change

    (reading,) = compare_cases([json.dumps(case)], source="cases", readers=READERS).readings

    assert not reading.is_right
