"""Holds an arm against what its services say and are; decides nothing about what to do then."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runner.campaign.level_effect import LevelCheck, ProofSource

MISSING = "nothing at that place"
UNREADABLE = "it could not be read"
_WHERE = {
    ProofSource.SERVER_INFO: "",
    ProofSource.MODELS: "the model list's ",
    ProofSource.LOG: "the log's ",
    ProofSource.ENVIRONMENT: "the process's variable ",
}
_GROUPED = re.compile(r"(?<=\d)[,_](?=\d)")


@dataclass(frozen=True, slots=True)
class Statement:
    """What one service says and is. None: it does not offer that, or it could not be had.

    `log` holds the lines since its start, `environment` the variables of its process.
    """

    server_info: Mapping[str, Any] | None = None
    models: Mapping[str, Any] | None = None
    log: str | None = None
    environment: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """One fact that a service must state of a level."""

    factor: str
    level: str
    wanted: LevelCheck = field(hash=False)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """`path` is where it was looked for; `expected` and `found` as they are told."""

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


def check_statement(
    checks: Sequence[Check], statement: Statement, *, service: str
) -> tuple[CheckResult, ...]:
    """Every check against one service; a place that does not exist never holds."""
    return tuple(_check_one(check, statement, service) for check in checks)


def _check_one(check: Check, statement: Statement, service: str) -> CheckResult:
    wanted = check.wanted
    values = _values(wanted, statement)
    expected = expectation(wanted)
    if values is None:
        found, holds = UNREADABLE, False
    elif wanted.absent:
        wrong = [value for value in values if value is not None]
        found, holds = (wrong[0] if wrong else expected), not wrong
    else:
        wrong = [value for value in values if not _fits(value, wanted)]
        holds = bool(values) and not wrong
        told = values[0] if values and not _is_exact(wanted) else expected
        found = told if holds else (wrong[0] if wrong else MISSING)
    where = f"{_WHERE[wanted.source]}{wanted.place}"
    return CheckResult(check.factor, check.level, service, where, expected, found, holds)


def expectation(wanted: LevelCheck) -> Any:
    """What must stand there, as it is told: the value itself, or words."""
    if wanted.absent:
        return "nothing"
    if wanted.equals is not None:
        return wanted.equals
    bounds = [
        f"{word} {bound:g}"
        for word, bound in (("at least", wanted.at_least), ("at most", wanted.at_most))
        if bound is not None
    ]
    return " and ".join(bounds) or "a line like it"


def _is_exact(wanted: LevelCheck) -> bool:
    return wanted.equals is not None


def _values(wanted: LevelCheck, statement: Statement) -> list[Any] | None:
    """What stands at the place; None where the source could not be had."""
    source = getattr(statement, wanted.source)
    if source is None:
        return None
    if wanted.source is ProofSource.LOG:
        return list(_told_by_log(str(source), wanted.place))
    if wanted.source is ProofSource.ENVIRONMENT:
        return [source[wanted.place]] if wanted.place in source else []
    return list(values_at(source, wanted.place))


def _told_by_log(log: str, pattern: str) -> Iterator[str]:
    """The first group of each line that has the pattern, or the line where it has no group."""
    compiled = re.compile(pattern)
    for line in log.splitlines():
        found = compiled.search(line)
        if found is not None:
            yield (found.group(1) or "") if compiled.groups else line


def _fits(value: Any, wanted: LevelCheck) -> bool:
    is_text = wanted.source in (ProofSource.LOG, ProofSource.ENVIRONMENT)
    if wanted.equals is not None:
        text_agrees = is_text and str(value) == _as_text(wanted.equals)
        return text_agrees or same_value(_number_of(value) if is_text else value, wanted.equals)
    if wanted.at_least is None and wanted.at_most is None:
        return True
    number = _number_of(value) if is_text else value
    if isinstance(number, bool) or not isinstance(number, int | float):
        return False
    return (wanted.at_least is None or number >= wanted.at_least) and (
        wanted.at_most is None or number <= wanted.at_most
    )


def _as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number_of(text: Any) -> Any:
    """The number that a text is, with its digits in groups or not; else the text."""
    try:
        return float(_GROUPED.sub("", str(text)))
    except ValueError:
        return text


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
