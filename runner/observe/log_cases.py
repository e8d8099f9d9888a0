"""Reads recorded logs and holds the reading against what the case expects."""

from collections.abc import Mapping
from typing import Any

from runner.judge.recorded_cases import CaseReader, CaseReading, RecordedCase
from runner.observe.case_expectation import differing_fields
from runner.observe.event_catalogue import EventCatalogue, EventClass
from runner.observe.log_findings import LogFinding
from runner.observe.log_reading import LogReading, read_log
from runner.observe.log_records import RecordList
from runner.observe.log_times import seconds_of
from runner.observe.own_ends import OwnEnds

_ANY_YEAR = 2000
_QUIET = frozenset({EventClass.INFO, EventClass.BENIGN})


def log_case_reader(catalogue: EventCatalogue) -> CaseReader:
    def read(case: RecordedCase) -> CaseReading:
        return read_log_case(case, catalogue)

    return read


def read_log_case(case: RecordedCase, catalogue: EventCatalogue) -> CaseReading:
    """Right where the verdict and every field of every expected event agree.

    No other event may be reported but harmless ones, and none of `must_not_report`.
    """
    year = _year_of(case)
    records = RecordList.of(case.content, year=year).records
    reading = read_log(records, catalogue, own_ends_of(case, year=year))
    differing = list(_differences(case.expect, reading))
    got = f"{reading.verdict}, {'; '.join(differing)}" if differing else reading.verdict
    return CaseReading(case, got, str(case.expect.get("verdict")), not differing)


def own_ends_of(case: RecordedCase, *, year: int) -> OwnEnds:
    ends = case.context.get("ended_rids")
    if not isinstance(ends, dict):
        return OwnEnds()
    return OwnEnds(
        {
            rid: seconds_of(when, year=year) if isinstance(when, str) else None
            for rid, when in ends.items()
        }
    )


def _year_of(case: RecordedCase) -> int:
    ends = case.context.get("ended_rids")
    for when in ends.values() if isinstance(ends, dict) else ():
        if isinstance(when, str) and when[:4].isdecimal():
            return int(when[:4])
    return _ANY_YEAR


def _differences(expect: Mapping[str, Any], reading: LogReading) -> list[str]:
    differing: list[str] = []
    if expect.get("verdict") != reading.verdict:
        differing.append(f"verdict {reading.verdict}")
    if "n_records" in expect:
        differing += differing_fields(
            {"n_records": expect["n_records"]}, {"n_records": reading.records}
        )
    left = list(reading.findings)
    for event in expect.get("events") or ():
        found = _closest(event, left)
        if found is None:
            differing.append(f"no {event.get('kind')}")
            continue
        left.remove(found)
        wrong = differing_fields(event, _as_expected(found), without=("kind",))
        differing += [f"{found.kind} {each}" for each in wrong]
    differing += [f"{each.kind} is too many" for each in left if each.event_class not in _QUIET]
    said = {reading.verdict, *_words(reading)}
    differing += [
        f"{word} reported" for word in expect.get("must_not_report") or () if word in said
    ]
    return differing


def _closest(event: Mapping[str, Any], findings: list[LogFinding]) -> LogFinding | None:
    alike = [each for each in findings if each.kind == event.get("kind")]
    return min(
        alike, key=lambda each: len(differing_fields(event, _as_expected(each))), default=None
    )


def _as_expected(finding: LogFinding) -> dict[str, Any]:
    ranks = [int(rank) if rank.isdecimal() else _rank_number(rank) for rank in finding.ranks]
    return {
        "kind": finding.kind,
        "class": str(finding.event_class),
        "count": finding.count,
        "unique_requests": len(finding.requests),
        "ranks": list(dict.fromkeys(ranks)),
        **finding.fields,
    }


def _rank_number(rank: str) -> int:
    return int("".join(letter for letter in rank if letter.isdecimal()) or 0)


def _words(reading: LogReading) -> set[str]:
    kinds = {each.kind for each in reading.findings}
    classes = {str(each.event_class) for each in reading.findings}
    lines = {each.first_line.split(" to ")[0] for each in reading.findings}
    return kinds | classes | lines
