"""A stored run as counts, as the five lines, and as the JSON that scripts read."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from db.reads.campaigns import ArmFacts
from db.reads.runs import RunCounts
from db.tables.runs import RunRow
from db.vocabulary import Outcome
from runner.evidence.counts import SessionCounts, counted
from runner.evidence.summary_lines import summary_lines

AnyRun: TypeAlias = RunRow | RunCounts


def counts_of(run: AnyRun, corrupt: Sequence[str]) -> SessionCounts:
    return counted(outcome_counts(run), corrupt=corrupt)


def outcome_counts(run: AnyRun) -> dict[str, int]:
    """Outcome to number, those that occurred."""
    seen = {str(outcome): int(getattr(run, f"n_{outcome}")) for outcome in Outcome}
    return {outcome: number for outcome, number in seen.items() if number}


def lines_of(run: AnyRun, corrupt: Sequence[str]) -> tuple[str, ...]:
    return summary_lines(
        counts_of(run, corrupt),
        wall_s=run.wall_s,
        peak_running=run.peak_running,
        wedge_lines=run.wedge_lines,
        wedge_requests=run.wedge_requests,
    )


def run_json(run: AnyRun, arm: ArmFacts, corrupt: Sequence[str]) -> Mapping[str, Any]:
    counts = counts_of(run, corrupt)
    return {
        "arm": dict(arm.levels),
        "block": run.block,
        "tag": arm.tag,
        "state": run.state,
        "reason": run.reason,
        "flags": list(run.flags),
        "attempt": run.attempt,
        "counts": outcome_counts(run),
        "sessions": counts.all,
        "corrupt": counts.corrupt,
        "evidence": counts.gave_evidence,
        "wedges": run.wedges,
        "wedge_requests": run.wedge_requests,
        "wedge_lines": run.wedge_lines,
        "wall_s": run.wall_s,
    }
