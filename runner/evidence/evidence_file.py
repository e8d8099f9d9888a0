"""A file of recorded evidence, in either format: how many numbers agree, and which do not."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from runner.errors import RecordedCaseError
from runner.evidence.given_numbers import read_json
from runner.evidence.recorded_tables import Difference, sequence_differences, table_differences
from runner.evidence.recorded_verdicts import verdict_differences


@dataclass(frozen=True, slots=True)
class EvidenceCheck:
    """`right` of `of` entries agree, in `cases` cases."""

    cases: int
    right: int
    of: int
    differences: tuple[Difference, ...]


def check_evidence(text: str) -> EvidenceCheck:
    """Raises RecordedCaseError with one sentence where the text is in neither format."""
    try:
        content = read_json(text)
    except json.JSONDecodeError as error:
        raise RecordedCaseError(f"line {error.lineno}: no JSON: {error.msg}") from error
    if not isinstance(content, dict) or not content:
        raise RecordedCaseError("the file is neither tables and sequences nor verdicts: no object")
    checked: list[Difference | None] = []
    cases = 0
    for name, entries in _cases(content):
        cases += 1
        try:
            checked += [difference for _, difference in entries]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            what = f"{name}: not in the format of recorded evidence"
            raise RecordedCaseError(f"{what} ({type(error).__name__}: {error})") from error
    differences = tuple(each for each in checked if each is not None)
    return EvidenceCheck(cases, len(checked) - len(differences), len(checked), differences)


def _cases(
    content: Mapping[str, Any],
) -> Iterator[tuple[str, Iterator[tuple[str, Difference | None]]]]:
    if "tables" in content or "sequences" in content:
        for table in content.get("tables", ()):
            yield _name_of(table), table_differences(table)
        for sequence in content.get("sequences", ()):
            yield _name_of(sequence), sequence_differences(sequence)
        return
    for name, case in content.items():
        if name != "meta":
            yield name, verdict_differences(name, case)


def _name_of(case: Any) -> str:
    return str(case.get("id", "?")) if isinstance(case, dict) else "?"
