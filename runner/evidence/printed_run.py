"""A run read back from the lines that it printed, so that an old log can be judged like a run."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from db.vocabulary import Outcome
from runner.errors import RecordedCaseError
from runner.evidence.arm_evidence import ArmEvidence
from runner.evidence.counts import SessionCounts, counted
from runner.evidence.counts_question import arm_of_counts
from runner.evidence.silent_sessions import LaunchCounts

_WALL = re.compile(r"\bwall=(?:([0-9.]+)s|unknown)\s+counts=(\{.*\})")
_CORRUPTION = re.compile(r"CORRUPTION sessions:\s*([0-9]+)/([0-9]+)(?:[^\r\n(]*\(([^\r\n)]*)\))?")
_OK_ISH = "ok-ish[done/maxrounds]"
_OUTCOME_COUNT = re.compile(r"([a-z_]+|ok-ish\[done/maxrounds\])=([0-9]+)")
_PEAK = re.compile(r"peak decode #running:\s*([0-9.]+)")
_WEDGE_LINES = re.compile(
    r"WaitingForInput/aborts during run:\s*([0-9]+)(?:\s*\(([0-9]+) requests\))?"
)


@dataclass(frozen=True, slots=True)
class PrintedRun:
    """`wedge_lines` are raw lines, no incidents: how many wedges there were is not known. None
    where the line that counts them is missing.
    """

    counts: SessionCounts = field(hash=False)
    wall_s: float | None = None
    peak_running: float | None = None
    wedge_lines: int | None = None
    wedge_requests: int | None = None

    def as_arm(self, name: str = "after") -> ArmEvidence:
        launch = LaunchCounts(self.counts.not_corrupt, self.counts.corrupt, self.counts.silent)
        lines = self.wedge_lines or 0
        return arm_of_counts(
            name,
            [launch],
            wedge_lines=lines,
            wedge_requests=lines if self.wedge_requests is None else self.wedge_requests,
        )


def read_printed_run(text: str) -> PrintedRun:
    """From four or five lines anywhere in the text, in any order.

    Where the line with the counts is lost, the CORRUPTION line stands for it. Raises
    RecordedCaseError where both are missing, where they cannot be read or contradict each other,
    and where the text holds several runs, whose lines would be mixed.
    """
    walls, totals = list(_WALL.finditer(text)), list(_CORRUPTION.finditer(text))
    if max(len(walls), len(totals)) > 1:
        raise RecordedCaseError(
            f"the lines of {max(len(walls), len(totals))} runs; import each by itself"
        )
    if not walls and not totals:
        raise RecordedCaseError(
            "no line like: wall=485.7s counts={...}, and none like: CORRUPTION sessions: 5/80 = 6%"
        )
    counts = _counts(walls[0][2]) if walls else _counts_of_line(totals[0])
    if totals and _total_of(totals[0]) != (counts.corrupt, counts.all):
        corrupt, sessions = _total_of(totals[0])
        raise RecordedCaseError(
            f"the lines contradict each other: counts give {counts.corrupt}/{counts.all} corrupt, "
            f"the CORRUPTION line {corrupt}/{sessions}"
        )
    wall_s = walls[0][1] if walls else None
    peak, lines = _PEAK.search(text), _WEDGE_LINES.search(text)
    return PrintedRun(
        counts=counts,
        wall_s=float(wall_s) if wall_s else None,
        peak_running=float(peak[1]) if peak else None,
        wedge_lines=int(lines[1]) if lines else None,
        wedge_requests=int(lines[2]) if lines and lines[2] else None,
    )


def _total_of(line: re.Match[str]) -> tuple[int, int]:
    return int(line[1]), int(line[2])


def _counts_of_line(line: re.Match[str]) -> SessionCounts:
    """Of `(leak=5 no_tool=0 error=75 ok-ish[done/maxrounds]=0)`, ok-ish as `done`."""
    words = {name: int(number) for name, number in _OUTCOME_COUNT.findall(line[3] or "")}
    clean = words.pop(_OK_ISH, 0)
    if not words:
        raise RecordedCaseError("the CORRUPTION line does not say how the sessions ended")
    return _counted({**words, Outcome.DONE: clean})


def _counts(text: str) -> SessionCounts:
    try:
        content = json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise RecordedCaseError(f"counts are no JSON: {error.msg}") from error
    if not isinstance(content, Mapping) or not all(
        isinstance(number, int) and not isinstance(number, bool) for number in content.values()
    ):
        raise RecordedCaseError("counts are an object of whole numbers by outcome")
    return _counted(content)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An outcome that is counted twice would hide its first count."""
    if len(dict(pairs)) < len(pairs):
        raise RecordedCaseError("counts name an outcome twice")
    return dict(pairs)


def _counted(content: Mapping[str, int]) -> SessionCounts:
    try:
        return counted(content)
    except ValueError as error:
        allowed = ", ".join(Outcome)
        raise RecordedCaseError(f"counts name no outcome: {error}; allowed: {allowed}") from error
