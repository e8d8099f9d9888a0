"""The corrupt rate of otherwise equal arms over the concurrency, each with count and interval."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import plotly.graph_objects as go

from app.palette import Palette
from runner.evidence.rates import Interval


@dataclass(frozen=True, slots=True)
class DosePoint:
    """One concurrency; `words` are its count and its rate."""

    concurrency: int
    value: float
    interval: Interval
    words: str
    is_corrupt: bool


def dose_line(points: Sequence[DosePoint], palette: Palette) -> go.Figure:
    """Concurrencies stand at equal distances: few of them are ever measured."""
    labels = [f"C = {point.concurrency}" for point in points]
    values = [100 * point.value for point in points]
    colours = [palette.corrupt if point.is_corrupt else palette.clean for point in points]
    line = go.Scatter(
        x=labels,
        y=values,
        mode="lines",
        line={"color": palette.border, "width": 1.5},
        hoverinfo="skip",
    )
    dots = go.Scatter(
        x=labels,
        y=values,
        mode="markers",
        marker={"size": 9, "color": colours},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [100 * (point.interval.high - point.value) for point in points],
            "arrayminus": [100 * (point.value - point.interval.low) for point in points],
            "color": palette.muted,
            "thickness": 1.4,
            "width": 5,
        },
        hovertext=[escape(point.words) for point in points],
        hoverinfo="text",
    )
    layout = _layout(palette, [point.interval.high for point in points])
    layout["annotations"] = [_words(point, palette) for point in points]
    return go.Figure(data=[line, dots], layout=layout)


def _words(point: DosePoint, palette: Palette) -> dict[str, Any]:
    fraction, _, rate = point.words.partition("  ")
    muted = f'<span style="color:{palette.muted}">{escape(rate)}</span>'
    return {
        "x": f"C = {point.concurrency}",
        "y": 100 * point.interval.high,
        "text": f"<b>{escape(fraction)}</b><br>{muted}",
        "showarrow": False,
        "yanchor": "bottom",
        "yshift": 4,
        "font": {"size": 11, "color": palette.text},
    }


def _layout(palette: Palette, highs: Sequence[float]) -> dict[str, Any]:
    font = {"size": 11, "color": palette.muted}
    return {
        "height": 220,
        "margin": {"l": 40, "r": 8, "t": 8, "b": 30},
        "showlegend": False,
        "dragmode": False,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "xaxis": {"type": "category", "fixedrange": True, "tickfont": font, "range": _ends(highs)},
        "yaxis": {
            "fixedrange": True,
            "gridcolor": palette.border,
            "zeroline": False,
            "ticksuffix": " %",
            "nticks": 5,
            "tickfont": font,
            "range": [0, 100 * 1.35 * max([0.05, *highs])],
        },
    }


def _ends(points: Sequence[float]) -> list[float]:
    return [-0.6, len(points) - 0.4]
