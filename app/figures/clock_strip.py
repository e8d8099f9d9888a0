"""One clock for a run: requests above; below them when sessions were caught and what was logged.

Wedges are shaded through all of it, so that spans, victims, queue depth and log density are read
at the same instant.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from app.figures.timeline import Band, Mark, run_timeline
from app.palette import Palette

_LINES_PX = 190
_VICTIMS_PX = 22
_DENSITY_PX = 62
_BETWEEN_PX = 26
_EDGES_PX = 84

LOUD_CLASSES = ("wedge", "crash", "abort")


def clock_strip(
    lines: pd.DataFrame,
    *,
    density: pd.DataFrame,
    bin_s: float,
    victims_at_s: Sequence[float],
    corrupt_at_s: Sequence[float],
    bands: Sequence[Band],
    marks: Sequence[Mark],
    palette: Palette,
) -> go.Figure:
    """`lines`: `series`, `seconds`, `value`. `density`: `seconds`, `event_class`, `lines`."""
    if density.empty and not victims_at_s:
        return run_timeline(
            lines, corrupt_at_s=corrupt_at_s, bands=bands, marks=marks, palette=palette
        )
    below_px = _DENSITY_PX + (_VICTIMS_PX + _BETWEEN_PX if victims_at_s else 0) + _BETWEEN_PX
    whole_px = _LINES_PX + below_px
    figure = run_timeline(
        lines,
        corrupt_at_s=corrupt_at_s,
        bands=bands,
        marks=marks,
        palette=palette,
        height=whole_px + _EDGES_PX,
    )
    traces = [*figure.data, *_density_bars(density, bin_s, palette)]
    layout = figure.layout.to_plotly_json()
    layout["barmode"] = "stack"
    layout["yaxis"]["domain"] = [below_px / whole_px, 1]
    layout["yaxis2"] = _density_axis(_DENSITY_PX / whole_px, density, palette)
    layout["xaxis"]["anchor"] = "y2"
    layout["annotations"] = [
        *layout["annotations"],
        _lane_name("log lines", _DENSITY_PX / whole_px, palette),
    ]
    if victims_at_s:
        low = (_DENSITY_PX + _BETWEEN_PX) / whole_px
        high = low + _VICTIMS_PX / whole_px
        layout["yaxis3"] = {"visible": False, "domain": [low, high], "range": [0, 1], "anchor": "x"}
        layout["annotations"].append(_lane_name("caught in a wedge", high, palette))
        traces.append(_victim_ticks(victims_at_s, palette))
    return go.Figure(data=traces, layout=layout)


def _density_bars(density: pd.DataFrame, bin_s: float, palette: Palette) -> list[go.Bar]:
    loud = density[density["event_class"].isin(LOUD_CLASSES)]
    quiet = density[~density["event_class"].isin(LOUD_CLASSES)]
    parts = [("wedge, crash or abort", loud, palette.silent), ("other", quiet, palette.pending)]
    return [
        go.Bar(
            x=(part["seconds"] + bin_s / 2).to_numpy(float),
            y=part["lines"].to_numpy(float),
            width=bin_s,
            yaxis="y2",
            marker={"color": colour, "line": {"width": 0}},
            hovertemplate="%{y} lines, " + escape(name) + ", at %{x:.0f} s<extra></extra>",
        )
        for name, part, colour in parts
        if len(part)
    ]


def _victim_ticks(at_s: Sequence[float], palette: Palette) -> go.Scatter:
    return go.Scatter(
        x=list(at_s),
        y=[0.5] * len(at_s),
        yaxis="y3",
        mode="markers",
        marker={
            "symbol": "line-ns",
            "size": 13,
            "opacity": 0.65,
            "line": {"width": 1.4, "color": palette.silent},
        },
        hovertemplate="a session that was caught ended at %{x:.1f} s<extra></extra>",
    )


def _density_axis(top: float, density: pd.DataFrame, palette: Palette) -> dict[str, Any]:
    """Whole lines at the ticks, two of them at most."""
    most = float(density.groupby("seconds")["lines"].sum().max()) if len(density) else 1.0
    return {
        "domain": [0, top],
        "anchor": "x",
        "rangemode": "tozero",
        "gridcolor": palette.border,
        "zeroline": False,
        "fixedrange": True,
        "dtick": max(1, -(-int(most) // 2)),
        "tickfont": {"size": 11, "color": palette.muted},
    }


def _lane_name(words: str, y: float, palette: Palette) -> dict[str, Any]:
    return {
        "x": 0,
        "xref": "x domain",
        "y": y,
        "yref": "paper",
        "text": escape(words),
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "bottom",
        "font": {"size": 11, "color": palette.muted},
    }
