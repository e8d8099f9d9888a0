"""Corrupt rates under each other, each with its count and its interval: a forest plot.

A dot at what is certain, a line to both limits, hatching where silent sessions leave the rate open.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import plotly.graph_objects as go

from app.palette import Palette
from runner.evidence.rates import Interval

_ROW_PX = 58
_SMALLEST_RANGE = 0.05


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One arm. `interval` None: no finished run. `open_to`: the rate if all silent were corrupt."""

    name: str
    words: str
    note: str
    value: float = 0.0
    interval: Interval | None = None
    open_to: float = 0.0
    is_corrupt: bool = False


def rate_forest(rows: Sequence[ForestRow], palette: Palette) -> go.Figure:
    """From the top downwards, on one axis of rates."""
    traces: list[Any] = []
    for number, row in enumerate(rows):
        if row.interval is not None:
            traces += _row_traces(row, -float(number), palette)
    layout = _layout(len(rows), _end_of_axis(rows), palette)
    layout["annotations"] = [
        _label(row, -float(number), palette) for number, row in enumerate(rows)
    ]
    layout["shapes"] = [_track(-float(number), palette) for number in range(len(rows))]
    return go.Figure(data=traces, layout=layout)


def _row_traces(row: ForestRow, y: float, palette: Palette) -> list[Any]:
    assert row.interval is not None
    colour = palette.corrupt if row.is_corrupt else palette.clean
    low, high = (100 * end for end in row.interval)
    value, traces = 100 * row.value, []
    if row.open_to > row.value:
        pattern = {"shape": "/", "fgcolor": palette.silent, "bgcolor": palette.silent_tint}
        traces.append(
            go.Bar(
                x=[100 * (row.open_to - row.value)],
                base=[value],
                y=[y],
                width=0.26,
                orientation="h",
                marker={"pattern": pattern | {"size": 6, "solidity": 0.25}, "line": {"width": 0}},
                hovertemplate="where the rate could be: silent sessions<extra></extra>",
            )
        )
    traces.append(
        go.Scatter(
            x=[low, high],
            y=[y, y],
            mode="lines+markers",
            line={"color": colour, "width": 1.8},
            marker={"symbol": "line-ns-open", "size": 9, "color": colour, "line": {"width": 1.8}},
            hoverinfo="skip",
        )
    )
    traces.append(
        go.Scatter(
            x=[value],
            y=[y],
            mode="markers",
            marker={"size": 9, "color": colour},
            hovertemplate=escape(f"{row.name}: {row.words}") + "<extra></extra>",
        )
    )
    return traces


def _label(row: ForestRow, y: float, palette: Palette) -> dict[str, Any]:
    fraction, _, rest = row.words.partition("  ")
    told = " · ".join(part for part in (rest, row.note) if part)
    muted = f'<span style="color:{palette.muted}">{escape(told)}</span>'
    return {
        "x": 0,
        "xref": "paper",
        "y": y,
        "yshift": 23,
        "text": f"{escape(row.name)}<br><b>{escape(fraction)}</b> {muted}",
        "align": "left",
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "middle",
        "font": {"size": 12, "color": palette.text},
    }


def _track(y: float, palette: Palette) -> dict[str, Any]:
    line = {"color": palette.border, "width": 1}
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": y, "y1": y} | {
        "line": line,
        "layer": "below",
    }


def _end_of_axis(rows: Sequence[ForestRow]) -> float:
    """The whole scale where a limit comes near its end, else some room beyond the widest one."""
    ends = [max(row.interval.high, row.open_to) for row in rows if row.interval is not None]
    widest = max([_SMALLEST_RANGE, *ends])
    return 1.0 if widest > 0.6 else 1.12 * widest


def _layout(count: int, end: float, palette: Palette) -> dict[str, Any]:
    return {
        "height": _ROW_PX * count + 46,
        "margin": {"l": 6, "r": 12, "t": 4, "b": 40},
        "barmode": "overlay",
        "showlegend": False,
        "dragmode": False,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "xaxis": {
            "range": [-1.2 * end, 100 * end],
            "ticksuffix": " %",
            "nticks": 6,
            "zeroline": False,
            "gridcolor": palette.border,
            "fixedrange": True,
            "tickfont": {"size": 11, "color": palette.muted},
            "title": {"text": "corrupt sessions, share of all", "font": {"size": 11}},
            "color": palette.muted,
        },
        "yaxis": {"visible": False, "range": [-count + 0.6, 0.85], "fixedrange": True},
    }
