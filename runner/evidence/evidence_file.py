"""A file of recorded evidence, in either format: how many numbers agree, and which do not."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from runner.errors import RecordedCaseError
from runner.evidence.given_numbers import read_json, share
from runner.evidence.recorded_tables import (
    TOLERANCE,
    Difference,
    Entry,
    NotComputed,
    Tolerance,
    is_remark,
    sequence_differences,
    table_differences,
)
from runner.evidence.recorded_verdicts import verdict_differences

Entries: TypeAlias = Iterator[tuple[str, Entry]]


@dataclass(frozen=True, slots=True)
class EvidenceCheck:
    """`right` of `of` entries agree, in `cases` cases; those not computed are in neither."""

    cases: int
    right: int
    of: int
    differences: tuple[Difference, ...]
    not_computed: tuple[NotComputed, ...] = ()


def check_evidence(text: str) -> EvidenceCheck:
    """Raises RecordedCaseError with one sentence where the text is in neither format."""
    try:
        content = read_json(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        raise RecordedCaseError(f"line {error.lineno}: no JSON: {error.msg}") from error
    if not isinstance(content, dict):
        raise RecordedCaseError("the file is neither tables and sequences nor verdicts: no object")
    cases, entries = 0, []
    for name, case in _cases(content):
        cases += 1
        entries += _entries(name, case)
    if not entries:
        raise RecordedCaseError("the file has no table, sequence or verdict with answers to check")
    differences = tuple(each for each in entries if isinstance(each, Difference))
    not_computed = tuple(each for each in entries if isinstance(each, NotComputed))
    of = len(entries) - len(not_computed)
    return EvidenceCheck(cases, of - len(differences), of, differences, not_computed)


def _entries(name: str, case: Entries) -> list[Entry]:
    try:
        return [entry for _, entry in case]
    except KeyError as error:
        raise RecordedCaseError(f"{_no_format(name)}: {error} is missing") from error
    except ValueError as error:
        raise RecordedCaseError(f"{name}: {error}") from error
    except (TypeError, AttributeError) as error:
        what = "something of another kind stands where an object, a list or a number belongs"
        raise RecordedCaseError(f"{_no_format(name)}: {what}") from error


def _no_format(name: str) -> str:
    return f"{name}: not in the format of recorded evidence"


def _cases(content: Mapping[str, Any]) -> Iterator[tuple[str, Entries]]:
    if "tables" in content or "sequences" in content:
        tolerance = _tolerance(content.get("meta"))
        for number, table in enumerate(content.get("tables", ()), start=1):
            yield _name_of(table, f"table {number}"), table_differences(table, tolerance)
        for number, sequence in enumerate(content.get("sequences", ()), start=1):
            name = _name_of(sequence, f"sequence {number}")
            yield name, sequence_differences(sequence, tolerance)
        return
    for name, case in content.items():
        if name != "meta" and not is_remark(name):
            yield name, verdict_differences(name, case)


def _tolerance(meta: Any) -> Tolerance:
    given = meta.get("tolerance") if isinstance(meta, Mapping) else None
    if not isinstance(given, Mapping):
        return TOLERANCE
    try:
        return Tolerance(
            interval=share(given.get("intervals", TOLERANCE.interval), name="intervals"),
            p_value=share(given.get("p_values", TOLERANCE.p_value), name="p_values"),
            published=share(given.get("published", TOLERANCE.published), name="published"),
        )
    except ValueError as error:
        raise RecordedCaseError(f"tolerance of the file: {error}") from error


def _name_of(case: Any, place: str) -> str:
    return str(case.get("id", place)) if isinstance(case, dict) else place
