"""The cells of a campaign as rows of a forest plot, bars on the clock, and dose points; pure."""

from collections.abc import Sequence

from app.cell_reading import CellReading, counts_of
from app.figures.block_bars import BlockBar
from app.figures.dose_line import DosePoint
from app.figures.rate_forest import ForestRow
from app.figures.run_gantt import GanttBar
from app.matrix_axes import CONCURRENCY
from app.palette import Palette, rate_step
from app.wording import clock_text
from db.identifiers import IdKind, format_id
from db.reads.campaigns import ArmFacts
from db.reads.runs import RunCounts
from db.vocabulary import RunState
from runner.evidence.wording import corrupt_text, duration_text, silent_text

_SECOND_US = 1_000_000


def forest_rows(cells: Sequence[CellReading]) -> list[ForestRow]:
    """One row an arm, in the order of the file; an arm without a finished run says so."""
    return [_forest_row(cell) for cell in cells]


def begun_runs(cells: Sequence[CellReading]) -> list[tuple[int, RunCounts]]:
    """Every run that was begun, with the lane of its arm, in the order of their beginnings."""
    found = [
        (lane, run)
        for lane, cell in enumerate(cells)
        for run in (*cell.done, *cell.left_out, *([cell.active] if cell.active else []))
        if run.started_at_us is not None
    ]
    return sorted(found, key=lambda each: each[1].started_at_us or 0)


def gantt_bars(
    cells: Sequence[CellReading],
    corrupt: Sequence[str],
    palette: Palette,
    *,
    now_us: int,
    at_most: int | None = None,
) -> list[GanttBar]:
    """Every run that was begun, in the lane of its arm; the last so many where given."""
    begun = begun_runs(cells)
    drawn = begun if at_most is None else begun[-at_most:]
    return [_gantt_bar(run, lane, corrupt, palette, now_us=now_us) for lane, run in drawn]


def block_bars_of(cell: CellReading, corrupt: Sequence[str]) -> list[BlockBar]:
    """Finished runs in the order in which they were driven."""
    runs = sorted(cell.done, key=lambda run: (run.driving_at_us or 0, run.id))
    return [_block_bar(run, corrupt) for run in runs]


def dose_points(cell: CellReading, cells: Sequence[CellReading]) -> list[DosePoint]:
    """The arms that differ from `cell` in the concurrency alone; fewer than two make no line."""
    alike = [each for each in cells if _but_load(each.arm) == _but_load(cell.arm)]
    points = []
    for each in sorted(alike, key=lambda reading: reading.arm.concurrency):
        bounds = each.counts.bounds
        if bounds is not None:
            points.append(
                DosePoint(
                    concurrency=each.arm.concurrency,
                    value=bounds.low.value,
                    interval=bounds.wilson(),
                    words=corrupt_text(each.counts),
                    is_corrupt=each.counts.corrupt > 0,
                )
            )
    return points if len(points) > 1 else []


def _forest_row(cell: CellReading) -> ForestRow:
    counts, bounds = cell.counts, cell.counts.bounds
    name = cell.arm.name + (" (baseline)" if cell.arm.is_baseline else "")
    if bounds is None:
        return ForestRow(name, "no finished run", "")
    notes = [silent_text(counts), "not exercised" if cell.is_not_exercised else ""]
    return ForestRow(
        name=name,
        words=corrupt_text(counts),
        note=" · ".join(note for note in notes if note),
        value=bounds.low.value,
        interval=bounds.wilson(),
        open_to=bounds.high.value if counts.silent else 0.0,
        is_corrupt=counts.corrupt > 0,
    )


def _gantt_bar(
    run: RunCounts, lane: int, corrupt: Sequence[str], palette: Palette, *, now_us: int
) -> GanttBar:
    assert run.started_at_us is not None
    counts = counts_of(run, corrupt)
    ended_us = run.ended_at_us or now_us
    counts_it = run.run_state is RunState.DONE
    rate = counts.corrupt_of_all
    words = str(counts.corrupt) if counts.corrupt else ""
    if not counts_it:
        words = run.state
    took = duration_text(max(0, ended_us - run.started_at_us) / _SECOND_US)
    note = f"{format_id(IdKind.RUN, run.id)}, block {run.block}, {clock_text(run.started_at_us)}"
    note += f", {took}: {run.state}, {corrupt_text(counts)}"
    return GanttBar(
        run_id=run.id,
        lane=lane,
        started_us=run.started_at_us,
        driving_us=run.driving_at_us,
        ended_us=ended_us,
        colour=palette.rate_steps[rate_step(rate.value if rate else 0.0)] if counts_it else None,
        is_thin=counts.gave_evidence * 2 < counts.all,
        words=words,
        note=note,
    )


def _block_bar(run: RunCounts, corrupt: Sequence[str]) -> BlockBar:
    counts = counts_of(run, corrupt)
    label = f"block {run.block} · {format_id(IdKind.RUN, run.id)}"
    return BlockBar(label, counts.corrupt, counts.not_corrupt, counts.silent)


def _but_load(arm: ArmFacts) -> dict[str, str]:
    return {factor: str(level) for factor, level in arm.levels.items() if factor != CONCURRENCY}
