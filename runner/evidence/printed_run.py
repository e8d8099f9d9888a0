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
_CORRUPTION = re.compile(r"CORRUPTION sessions:\s*([0-9]+)/([0-9]+)")
_PEAK = re.compile(r"peak decode #running:\s*([0-9.]+)")
_WEDGE_LINES = re.compile(
    r"WaitingForInput/aborts during run:\s*([0-9]+)(?:\s*\(([0-9]+) requests\))?"
)


@dataclass(frozen=True, slots=True)
class PrintedRun:
    """`wedge_lines` are raw lines, no incidents: how many wedges there were is not known."""

    counts: SessionCounts = field(hash=False)
    wall_s: float | None = None
    peak_running: float | None = None
    wedge_lines: int = 0
    wedge_requests: int | None = None

    def as_arm(self, name: str = "after") -> ArmEvidence:
        launch = LaunchCounts(self.counts.not_corrupt, self.counts.corrupt, self.counts.silent)
        return arm_of_counts(
            name,
            [launch],
            wedge_lines=self.wedge_lines,
            wedge_requests=self.wedge_lines if self.wedge_requests is None else self.wedge_requests,
        )


def read_printed_run(text: str) -> PrintedRun:
    """From four or five lines anywhere in the text.

    Raises RecordedCaseError where the counts are missing, unreadable, or contradict themselves.
    """
    wall = _WALL.search(text)
    if not wall:
        raise RecordedCaseError("no line like: wall=485.7s counts={...}")
    counts = _counts(wall[2])
    corruption = _CORRUPTION.search(text)
    if corruption and (int(corruption[1]), int(corruption[2])) != (counts.corrupt, counts.all):
        raise RecordedCaseError(
            f"the lines contradict each other: counts give {counts.corrupt}/{counts.all} corrupt, "
            f"the CORRUPTION line {corruption[1]}/{corruption[2]}"
        )
    peak, lines = _PEAK.search(text), _WEDGE_LINES.search(text)
    return PrintedRun(
        counts=counts,
        wall_s=float(wall[1]) if wall[1] else None,
        peak_running=float(peak[1]) if peak else None,
        wedge_lines=int(lines[1]) if lines else 0,
        wedge_requests=int(lines[2]) if lines and lines[2] else None,
    )


def _counts(text: str) -> SessionCounts:
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise RecordedCaseError(f"counts are no JSON: {error.msg}") from error
    if not isinstance(content, Mapping) or not all(
        isinstance(number, int) and not isinstance(number, bool) for number in content.values()
    ):
        raise RecordedCaseError("counts are an object of whole numbers by outcome")
    try:
        return counted(content)
    except ValueError as error:
        allowed = ", ".join(Outcome)
        raise RecordedCaseError(f"counts name no outcome: {error}; allowed: {allowed}") from error
