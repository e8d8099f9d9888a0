"""The right answers that others computed, read once for all tests of the evidence."""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from runner.evidence.given_numbers import read_json

DATA = Path(__file__).resolve().parents[2] / "data"
CASES = DATA / "cases"
SENTENCES = DATA / "evidence" / "verdict_sentences.txt"
TEMPLATES = DATA / "evidence" / "sentence_templates.txt"
ORACLE_TABLES = DATA / "evidence" / "oracle_tables.json"
ORACLE_VERDICTS = DATA / "evidence" / "oracle_verdicts.json"


@lru_cache
def statistics_vectors() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((CASES / "statistics_vectors.json").read_text())
    return content


def table(case: str) -> dict[str, Any]:
    return next(each for each in statistics_vectors()["tables"] if each["id"] == case)


@lru_cache
def verdict_cases() -> dict[str, Any]:
    """With the precision that the file gives its numbers."""
    content: dict[str, Any] = read_json((CASES / "verdict_cases.json").read_text())
    return content
