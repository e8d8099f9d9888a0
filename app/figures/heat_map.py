"""Draws arms by concurrency as cells that can be clicked; knows neither counts nor the store.

One bar trace a cell, for bars return the click and a heat-map trace does not. Hatching means that
evidence is missing: grey for too few sessions, two tones for the colours of both limits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from typing import Any

import plotly.graph_objects as go

from app.palette import Palette

_ROW_HEIGHT_PX = 76
_HEADER_PX = 40
_CORNER_LINE_PX = 15
_LABEL_PX = 128
_STRONG_STEP = 4
_HALF_CELL = 0.485


class Fill(StrEnum):
    """How a cell is painted."""

    RATE = "rate"
    FEW = "few"
    LIMITS = "limits"
    ABSENT = "absent"
    RUNNING = "running"


@dataclass(frozen=True, slots=True, kw_only=True)
class CellView:
    """One cell as it is drawn. `low_step` and `high_step` are the colours of both limits."""

    arm_id: int
    row: int
    column: int
    headline: str
    detail: str
    silent: str
    note: str
    fill: Fill
    low_step: int = 0
    high_step: int = 0
    silent_share: float = 0.0


@dataclass(frozen=True, slots=True)
class AxisLabel:
    """A bold line and a small one below it."""

    title: str
    note: str = ""


def heat_map(
    cells: Sequence[CellView],
    *,
    rows: Sequence[AxisLabel],
    columns: Sequence[AxisLabel],
    corner: str,
    palette: Palette,
    steps: Sequence[str],
    selected_arm: int | None,
) -> go.Figure:
    """Rows run downwards; `steps` are the six colours from none seen to very many."""
    bars = []
    for cell in cells:
        bars.append(_cell_bar(cell, palette, steps))
        if cell.silent_share > 0:
            bars.append(_silent_strip(cell, palette))
    texts = [_cell_text(cell, palette, steps) for cell in cells]
    outlines = [
        outline
        for cell in cells
        for outline in _outlines(cell, palette, is_selected=cell.arm_id == selected_arm)
    ]
    # All at once: Plotly checks the whole list again for every annotation added alone.
    layout = _layout(len(rows), len(columns), header_px=_header_px(corner)) | {
        "annotations": texts + _labels(rows, columns, corner, palette),
        "shapes": outlines,
    }
    return go.Figure(data=bars, layout=layout)


def _cell_bar(cell: CellView, palette: Palette, steps: Sequence[str]) -> go.Bar:
    return go.Bar(
        x=[cell.column],
        y=[2 * 0.48],
        base=[cell.row - 0.48],
        width=0.97,
        customdata=[cell.arm_id],
        marker=_marker(cell, palette, steps),
        hoverinfo="none",
        showlegend=False,
        unselected={"marker": {"opacity": 1}},
        selected={"marker": {"opacity": 1}},
    )


def _marker(cell: CellView, palette: Palette, steps: Sequence[str]) -> Mapping[str, Any]:
    low, high = steps[cell.low_step], steps[cell.high_step]
    if cell.fill is Fill.FEW:
        pattern = {"shape": "/", "fgcolor": palette.hatch, "bgcolor": low, "solidity": 0.18}
        return {"color": low, "pattern": pattern | {"size": 9}, "line": {"width": 0}}
    if cell.fill is Fill.LIMITS:
        stripe, solidity = (high, 0.4) if high != low else (palette.hatch, 0.15)
        pattern = {"shape": "/", "fgcolor": stripe, "bgcolor": low, "solidity": solidity}
        return {"color": low, "pattern": pattern | {"size": 10}, "line": {"width": 0}}
    if cell.fill is Fill.RATE:
        return {"color": low, "line": {"width": 0}}
    return {"color": palette.background, "line": {"width": 0}}


def _silent_strip(cell: CellView, palette: Palette) -> go.Bar:
    width = max(0.012, 0.97 * min(1.0, cell.silent_share))
    return go.Bar(
        x=[cell.column - _HALF_CELL + width / 2],
        y=[0.055],
        base=[cell.row + 0.425],
        width=width,
        customdata=[cell.arm_id],
        marker={"color": palette.silent, "line": {"width": 0}},
        hoverinfo="none",
        showlegend=False,
        unselected={"marker": {"opacity": 1}},
        selected={"marker": {"opacity": 1}},
    )


def _cell_text(cell: CellView, palette: Palette, steps: Sequence[str]) -> dict[str, Any]:
    ink = palette.muted if cell.fill in (Fill.ABSENT, Fill.RUNNING) else palette.text
    small, silent_ink = ink, palette.on_silent
    if cell.fill is Fill.RATE and cell.low_step >= _STRONG_STEP:
        ink = small = silent_ink = palette.on_strong
    elif cell.fill in (Fill.RATE, Fill.FEW) and cell.low_step == 0:
        small = palette.muted
    lines = [f'<b style="font-size:15px">{escape(cell.headline)}</b>']
    if cell.detail:
        lines.append(f'<span style="color:{small}">{escape(cell.detail)}</span>')
    notes = [(cell.silent, silent_ink), (cell.note, small)]
    told = [f'<span style="color:{ink_of}">{escape(text)}</span>' for text, ink_of in notes if text]
    if told:
        lines.append(f'<span style="font-size:11px">{"<br>".join(told)}</span>')
    annotation: dict[str, Any] = {
        "x": cell.column,
        "y": cell.row,
        "text": "<br>".join(lines),
        "showarrow": False,
        "font": {"size": 12, "color": ink},
        "borderpad": 4,
    }
    if cell.fill in (Fill.FEW, Fill.LIMITS):
        annotation["bgcolor"] = steps[0] if cell.fill is Fill.FEW else palette.background
    return annotation


def _labels(
    rows: Sequence[AxisLabel], columns: Sequence[AxisLabel], corner: str, palette: Palette
) -> list[dict[str, Any]]:
    labels = [
        {"x": index, "y": -0.5, "yshift": 2, "yanchor": "bottom", "text": _label(column, palette)}
        for index, column in enumerate(columns)
    ]
    left = {"xref": "paper", "x": 0, "xshift": -_LABEL_PX, "xanchor": "left", "align": "left"}
    labels += [
        left | {"y": index, "yanchor": "middle", "text": _label(row, palette)}
        for index, row in enumerate(rows)
    ]
    labels.append(
        left
        | {"y": -0.5, "yshift": 2, "yanchor": "bottom"}
        | {"text": f'<span style="color:{palette.muted};font-size:11px">{_wrapped(corner)}</span>'}
    )
    font = {"size": 12, "color": palette.text}
    return [label | {"showarrow": False, "font": font} for label in labels]


def _label(label: AxisLabel, palette: Palette) -> str:
    title = f"<b>{_wrapped(label.title)}</b>"
    if not label.note:
        return title
    note = f'<span style="color:{palette.muted};font-size:11px">{_wrapped(label.note)}</span>'
    return f"{title}<br>{note}"


def _wrapped(text: str, *, limit: int = 19) -> str:
    """Broken between the parts of a name, so that no line runs into the cells."""
    lines: list[str] = []
    for part in text.split(" · "):
        if lines and len(lines[-1]) + len(part) + 3 <= limit:
            lines[-1] += f" · {part}"
        else:
            lines.append(part)
    return " ·<br>".join(escape(line) for line in lines)


def _outlines(cell: CellView, palette: Palette, *, is_selected: bool) -> list[dict[str, Any]]:
    box = {
        "type": "rect",
        "x0": cell.column - _HALF_CELL,
        "x1": cell.column + _HALF_CELL,
        "y0": cell.row - 0.48,
        "y1": cell.row + 0.48,
    }
    outlines = []
    if cell.fill in (Fill.ABSENT, Fill.RUNNING):
        dash = "dash" if cell.fill is Fill.ABSENT else "solid"
        outlines.append(box | {"line": {"color": palette.ours, "width": 1, "dash": dash}})
    if is_selected:
        outlines.append(box | {"line": {"color": palette.text, "width": 2.5}})
    return outlines


def _header_px(corner: str) -> int:
    """Room for a title and its note, and for all lines of the corner."""
    return max(_HEADER_PX, _CORNER_LINE_PX * (_wrapped(corner).count("<br>") + 1) + 8)


def _layout(row_count: int, column_count: int, *, header_px: int) -> dict[str, Any]:
    hidden = {"visible": False, "fixedrange": True}
    return {
        "height": header_px + _ROW_HEIGHT_PX * row_count + 6,
        "margin": {"l": _LABEL_PX, "r": 4, "t": header_px, "b": 6, "pad": 0},
        "barmode": "overlay",
        "bargap": 0,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "xaxis": hidden | {"range": [-0.5, column_count - 0.5]},
        "yaxis": hidden | {"range": [row_count - 0.5, -0.5]},
        "dragmode": False,
        "clickmode": "event+select",
        "hovermode": "closest",
    }
