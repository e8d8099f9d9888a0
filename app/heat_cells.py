"""How the cells of a campaign lie in the matrix and what each one shows; pure.

The same cells are given as rows of a table, for the keyboard and for readers who see no colours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.cell_reading import CellReading, left_out_words
from app.figures.heat_map import AxisLabel, CellView, Fill
from app.links import Metric
from app.matrix_axes import CONCURRENCY, Axes, choose_axes, level_words, varies
from app.palette import rate_step
from app.wording import corrupt_words, counted_noun
from db.reads.campaigns import ArmFacts
from db.reads.sessions import Waited
from runner.evidence.rates import Rate
from runner.evidence.wording import fraction_text, percent_text, rounded, silent_text

ENOUGH_FOR_P99 = 100
"""Of fewer sessions the 99th percentile is the longest wait."""

_STEPS = 5


@dataclass(frozen=True, slots=True)
class HeatCells:
    cells: list[CellView]
    rows: list[AxisLabel]
    columns: list[AxisLabel]
    corner: str


def lay_out(
    readings: Sequence[CellReading],
    metric: Metric,
    *,
    axes: Axes | None = None,
    waits: Mapping[int, Waited] | None = None,
    longest_s: float | None = None,
) -> HeatCells:
    """`waits`: arm id -> wait for the first token, for the metric that shows it; `longest_s` is
    where its strongest colour begins. Without `axes`, columns are concurrencies.
    """
    arms = [reading.arm for reading in readings]
    axes = axes or choose_axes(arms).axes
    columns = _column_levels(arms, axes.columns)
    rows = list(dict.fromkeys(_row_key(arm, axes) for arm in _by_rows(arms, axes)))
    waits = waits or {}
    cells = [
        _cell_view(
            reading,
            metric,
            row=rows.index(_row_key(reading.arm, axes)),
            column=columns.index(_level(reading.arm, axes.columns)),
            waited=waits.get(reading.arm.id),
            longest_s=longest_s or max((each.seconds for each in waits.values()), default=1.0),
        )
        for reading in readings
    ]
    return HeatCells(
        cells=cells,
        rows=[_row_label(arms, key, axes) for key in rows],
        columns=[_column_label(arms, level, axes.columns) for level in columns],
        corner=" · ".join(factor for factor in axes.rows if varies(arms, factor)),
    )


def wait_labels(longest_s: float) -> tuple[str, ...]:
    """What the six colours stand for where they show seconds."""
    bounds = [longest_s * step / _STEPS for step in range(1, _STEPS)]
    return ("0", *(f"<{rounded(bound, 1)}" for bound in bounds), f"≥{rounded(bounds[-1], 1)}")


def row_name(arm: ArmFacts) -> str:
    """The arm's name without its concurrency."""
    parts = [part for part in arm.name.split(" · ") if part != f"C={arm.concurrency}"]
    return " · ".join(parts) or arm.name


def table_rows(readings: Sequence[CellReading]) -> list[dict[str, str]]:
    """One row a cell with everything that the picture shows, in words."""
    rows = []
    for reading in readings:
        words = corrupt_words(reading.counts)
        rows.append(
            {
                "arm": row_name(reading.arm),
                "tag": reading.arm.tag or "",
                "concurrency": str(reading.arm.concurrency),
                "corrupt": words.fraction if reading.has_evidence else _absent_words(reading),
                "rate, 95 % limits": words.rate,
                "silent": silent_text(reading.counts),
                "gave evidence": str(reading.counts.gave_evidence),
                "wedge requests": str(reading.wedge_requests),
                "harness errors": str(reading.counts.harness_errors),
                "exercised": "no" if reading.is_not_exercised else "",
                "runs done": str(len(reading.done)),
                "left out": left_out_words(reading.left_out),
            }
        )
    return rows


def summary_sentence(readings: Sequence[CellReading]) -> str:
    """`10 cells: 2 with corrupt sessions, 7 with none seen (3 of them too small to say much).`"""
    heard = [reading for reading in readings if reading.counts.gave_evidence]
    corrupt = sum(reading.counts.corrupt > 0 for reading in heard)
    clean = [reading for reading in heard if reading.counts.corrupt == 0]
    small = sum(reading.has_too_few for reading in clean)
    said = f"{counted_noun(len(readings), 'cell')}: {corrupt} with corrupt sessions, "
    said += f"{len(clean)} with none seen"
    if small:
        said += f" ({small} of them too small to say much)"
    not_run = sum(not reading.done for reading in readings)
    mute = len(readings) - len(heard) - not_run
    said += f", {mute} in which no session gave evidence" if mute else ""
    return said + (f", {not_run} without a finished run." if not_run else ".")


def _cell_view(
    reading: CellReading,
    metric: Metric,
    *,
    row: int,
    column: int,
    waited: Waited | None,
    longest_s: float,
) -> CellView:
    place = {"arm_id": reading.arm.id, "row": row, "column": column}
    if not reading.has_evidence:
        fill = Fill.RUNNING if reading.active else Fill.ABSENT
        headline = _absent_words(reading)
        return CellView(
            headline=headline, detail=_why(reading), silent="", note="", fill=fill, **place
        )
    if metric is Metric.SILENT:
        return _silent_view(reading, place)
    if metric is Metric.WEDGES:
        return _wedge_view(reading, place)
    if metric is Metric.TTFT:
        return _wait_view(reading, place, waited, longest_s)
    words = corrupt_words(reading.counts)
    low = rate_step(reading.rate)
    return CellView(
        headline=words.fraction,
        detail=words.rate,
        silent=_silent(reading),
        note=_note(reading),
        fill=_fill(reading),
        low_step=low,
        high_step=max(low, rate_step(reading.high_limit)),
        silent_share=reading.silent_share,
        **place,
    )


def _silent_view(reading: CellReading, place: dict[str, int]) -> CellView:
    rate = Rate(reading.counts.silent, reading.counts.all)
    return CellView(
        headline=fraction_text(rate),
        detail=f"{percent_text(rate)} silent" if rate.count else "none silent",
        silent=_wedged(reading),
        note="",
        fill=Fill.RATE,
        low_step=rate_step(rate.value),
        silent_share=reading.silent_share,
        **place,
    )


def _wedge_view(reading: CellReading, place: dict[str, int]) -> CellView:
    share = min(1.0, reading.wedge_requests / reading.counts.all)
    return CellView(
        headline=f"{reading.wedge_requests:,}",
        detail="wedge requests" if reading.wedge_requests != 1 else "wedge request",
        silent="",
        note=f"{reading.wedge_lines:,} lines" if reading.wedge_lines else "",
        fill=Fill.RATE,
        low_step=rate_step(share),
        silent_share=reading.silent_share,
        **place,
    )


def _wait_view(
    reading: CellReading, place: dict[str, int], waited: Waited | None, longest_s: float
) -> CellView:
    if waited is None:
        return CellView(
            headline="no first token", detail="", silent="", note="", fill=Fill.ABSENT, **place
        )
    step = 1 + min(_STEPS - 1, int(_STEPS * waited.seconds / longest_s)) if longest_s else 1
    return CellView(
        headline=f"{rounded(waited.seconds, 2)} s",
        detail=f"p99 of {waited.sessions:,}",
        silent=_silent(reading),
        note="",
        fill=Fill.RATE if waited.sessions >= ENOUGH_FOR_P99 else Fill.FEW,
        low_step=step,
        silent_share=reading.silent_share,
        **place,
    )


def _fill(reading: CellReading) -> Fill:
    if not reading.has_too_few:
        return Fill.RATE
    return Fill.LIMITS if reading.counts.corrupt else Fill.FEW


def _note(reading: CellReading) -> str:
    harness = reading.counts.harness_errors
    parts = [counted_noun(harness, "harness error") if harness else ""]
    parts.append(f"{len(reading.left_out)} left out" if reading.left_out else "")
    parts.append("running" if reading.active else "")
    parts.append("not exercised" if reading.is_not_exercised else "")
    return " · ".join(part for part in parts if part)


def _silent(reading: CellReading) -> str:
    parts = [silent_text(reading.counts), _wedged(reading)]
    return " · ".join(part for part in parts if part)


def _wedged(reading: CellReading) -> str:
    return "wedged" if reading.is_wedged else ""


def _absent_words(reading: CellReading) -> str:
    if reading.active is not None:
        return reading.active.state
    if reading.done:
        return "no evidence"
    if reading.left_out:
        return reading.left_out[-1].state
    return "planned" if reading.waiting else "not run"


def _why(reading: CellReading) -> str:
    if reading.active is not None:
        return f"{reading.active.n_ended}/{reading.active.sessions_planned} ended"
    if reading.done:
        ours = reading.counts.harness_errors
        return counted_noun(ours, "harness error") if ours else "no session"
    reason = reading.left_out[-1].reason if reading.left_out else None
    return _short(reason) if reason else ""


def _short(text: str, limit: int = 26) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _level(arm: ArmFacts, factor: str) -> str:
    return str(arm.levels.get(factor, "–"))


def _row_key(arm: ArmFacts, axes: Axes) -> tuple[str, ...]:
    return tuple(_level(arm, factor) for factor in axes.rows)


def _by_rows(arms: Sequence[ArmFacts], axes: Axes) -> list[ArmFacts]:
    """Levels in the order of the file, the outermost factor first."""
    order = {
        factor: list(dict.fromkeys(_level(arm, factor) for arm in arms)) for factor in axes.rows
    }
    return sorted(
        arms, key=lambda arm: [order[factor].index(_level(arm, factor)) for factor in axes.rows]
    )


def _column_levels(arms: Sequence[ArmFacts], factor: str) -> list[str]:
    levels = list(dict.fromkeys(_level(arm, factor) for arm in arms))
    return sorted(levels, key=int) if all(level.isdecimal() for level in levels) else levels


def _row_label(arms: Sequence[ArmFacts], key: tuple[str, ...], axes: Axes) -> AxisLabel:
    mine = [arm for arm in arms if _row_key(arm, axes) == key]
    telling = [factor for factor in axes.rows if varies(arms, factor)]
    tags = list(dict.fromkeys(arm.tag for arm in mine if arm.tag))
    notes = [*tags, *(["baseline"] if any(arm.is_baseline for arm in mine) else [])]
    return AxisLabel(level_words(mine[0], telling) or row_name(mine[0]), " · ".join(notes))


def _column_label(arms: Sequence[ArmFacts], level: str, factor: str) -> AxisLabel:
    sizes = {arm.sessions_per_run for arm in arms if _level(arm, factor) == level}
    size = "–".join(str(size) for size in sorted({min(sizes), max(sizes)}))
    title = f"C = {level}" if factor == CONCURRENCY else f"{factor} {level}"
    return AxisLabel(title, f"{size} sessions a run")
