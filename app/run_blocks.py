"""The runs of two arms laid side by side by block; pure."""

from collections.abc import Sequence

from db.reads.runs import RunCounts

PairOfRuns = tuple[RunCounts | None, RunCounts | None]


def runs_by_block(a: Sequence[RunCounts], b: Sequence[RunCounts]) -> list[PairOfRuns]:
    """In the order of blocks; None where an arm has no run in that block."""
    first, second = ({run.block: run for run in side} for side in (a, b))
    return [(first.get(block), second.get(block)) for block in sorted({*first, *second})]
