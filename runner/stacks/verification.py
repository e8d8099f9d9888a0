"""Holds an arm against what the server says of itself; decides nothing about what to do then."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MISSING = "nothing at that place"


@dataclass(frozen=True, slots=True)
class Check:
    """One fact that the server's report must state; in the dotted `path`, `*` is every element."""

    factor: str
    level: str
    path: str
    expected: Any


@dataclass(frozen=True, slots=True)
class CheckResult:
    factor: str
    level: str
    service: str
    path: str
    expected: Any
    found: Any
    holds: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "factor": self.factor,
            "level": self.level,
            "service": self.service,
            "path": self.path,
            "expected": self.expected,
            "found": self.found,
            "holds": self.holds,
        }

    def sentence(self) -> str:
        return (
            f"{self.factor}={self.level} on {self.service}: {self.path} should be "
            f"{self.expected!r}, found {self.found!r}"
        )


def check_report(
    checks: Sequence[Check], report: Mapping[str, Any], *, service: str
) -> tuple[CheckResult, ...]:
    """Every check against one service's report; a place that does not exist never holds."""
    return tuple(_check_one(check, report, service) for check in checks)


def _check_one(check: Check, report: Mapping[str, Any], service: str) -> CheckResult:
    values = list(values_at(report, check.path))
    wrong = [value for value in values if not same_value(value, check.expected)]
    holds = bool(values) and not wrong
    found = check.expected if holds else (wrong[0] if wrong else MISSING)
    return CheckResult(check.factor, check.level, service, check.path, check.expected, found, holds)


def values_at(report: Any, path: str) -> Iterator[Any]:
    """All values at a dotted path; a `*` that meets an empty list yields nothing."""
    head, _, rest = path.partition(".")
    if head == "*":
        children = list(report.values()) if isinstance(report, Mapping) else report
        if not isinstance(children, list):
            return
    elif isinstance(report, Mapping) and head in report:
        children = [report[head]]
    else:
        return
    for child in children:
        if rest:
            yield from values_at(child, rest)
        else:
            yield child


def same_value(found: Any, expected: Any) -> bool:
    """Equal, and of the same kind: 1 is not true, "132" is not 132, but 132.0 is 132."""
    if isinstance(found, bool) or isinstance(expected, bool):
        return found is expected
    if isinstance(found, int | float) and isinstance(expected, int | float):
        return float(found) == float(expected)
    return type(found) is type(expected) and bool(found == expected)
