"""How the cells of a campaign lie in the matrix and what each one shows; pure.

Rows are choices of all levels but the concurrency, columns are concurrencies. The same cells are
given as rows of a table, for the keyboard and for readers who do not see colours.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from app.cell_reading import CellReading, left_out_words
from app.figures.heat_map import AxisLabel, CellView, Fill
from app.links import Metric
from app.palette import rate_step
from app.wording import corrupt_words, counted_noun
from db.reads.campaigns import ArmFacts
from runner.evidence.rates import Rate
from runner.evidence.wording import fraction_text, percent_text, silent_text

CONCURRENCY = "concurrency"


@dataclass(frozen=True, slots=True)
class HeatCells:
    cells: list[CellView]
    rows: list[AxisLabel]
    columns: list[AxisLabel]
    corner: str


def lay_out(readings: Sequence[CellReading], metric: Metric) -> HeatCells:
    concurrencies = sorted({reading.arm.concurrency for reading in readings})
    keys = list(dict.fromkeys(_row_key(reading.arm) for reading in readings))
    cells = [
        _cell_view(
            reading,
            metric,
            row=keys.index(_row_key(reading.arm)),
            column=concurrencies.index(reading.arm.concurrency),
        )
        for reading in readings
    ]
    return HeatCells(
        cells=cells,
        rows=[_row_label(readings, key) for key in keys],
        columns=[_column_label(readings, concurrency) for concurrency in concurrencies],
        corner=_corner(readings),
    )


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
                "runs done": str(len(reading.done)),
                "left out": left_out_words(reading.left_out),
            }
        )
    return rows


def summary_sentence(readings: Sequence[CellReading]) -> str:
    """`10 cells: 2 with corrupt sessions, 7 with none seen (3 of them too small to say much).`"""
    measured = [reading for reading in readings if reading.has_evidence]
    corrupt = sum(reading.counts.corrupt > 0 for reading in measured)
    clean = [reading for reading in measured if reading.counts.corrupt == 0]
    small = sum(reading.has_too_few for reading in clean)
    said = f"{counted_noun(len(readings), 'cell')}: {corrupt} with corrupt sessions, "
    said += f"{len(clean)} with none seen"
    if small:
        said += f" ({small} of them too small to say much)"
    empty = len(readings) - len(measured)
    return said + (f", {empty} without a finished run." if empty else ".")


def _cell_view(reading: CellReading, metric: Metric, *, row: int, column: int) -> CellView:
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


def _fill(reading: CellReading) -> Fill:
    if not reading.has_too_few:
        return Fill.RATE
    return Fill.LIMITS if reading.counts.corrupt else Fill.FEW


def _note(reading: CellReading) -> str:
    harness = reading.counts.harness_errors
    parts = [counted_noun(harness, "harness error") if harness else ""]
    parts.append(f"{len(reading.left_out)} left out" if reading.left_out else "")
    parts.append("running" if reading.active else "")
    return " · ".join(part for part in parts if part)


def _silent(reading: CellReading) -> str:
    parts = [silent_text(reading.counts), _wedged(reading)]
    return " · ".join(part for part in parts if part)


def _wedged(reading: CellReading) -> str:
    return "wedged" if reading.is_wedged else ""


def _absent_words(reading: CellReading) -> str:
    if reading.active is not None:
        return reading.active.state
    if reading.left_out:
        return reading.left_out[-1].state
    return "planned" if reading.waiting else "not run"


def _why(reading: CellReading) -> str:
    if reading.active is not None:
        return f"{reading.active.n_ended}/{reading.active.sessions_planned} ended"
    reason = reading.left_out[-1].reason if reading.left_out else None
    return _short(reason) if reason else ""


def _short(text: str, limit: int = 26) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _row_key(arm: ArmFacts) -> str:
    return repr([(factor, level) for factor, level in arm.levels.items() if factor != CONCURRENCY])


def _row_label(readings: Sequence[CellReading], key: str) -> AxisLabel:
    arms = [reading.arm for reading in readings if _row_key(reading.arm) == key]
    notes = [arms[0].tag or "", "baseline" if any(arm.is_baseline for arm in arms) else ""]
    return AxisLabel(row_name(arms[0]), " · ".join(note for note in notes if note))


def _column_label(readings: Sequence[CellReading], concurrency: int) -> AxisLabel:
    sizes = {
        reading.arm.sessions_per_run
        for reading in readings
        if reading.arm.concurrency == concurrency
    }
    size = "–".join(str(size) for size in sorted({min(sizes), max(sizes)}))
    return AxisLabel(f"C = {concurrency}", f"{size} sessions a run")


def _corner(readings: Sequence[CellReading]) -> str:
    factors = [factor for factor in readings[0].arm.levels if factor != CONCURRENCY]
    varying = [
        factor
        for factor in factors
        if len({str(reading.arm.levels.get(factor)) for reading in readings}) > 1
    ]
    return " · ".join(varying)
