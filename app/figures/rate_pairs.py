"""Rates of two runs under each other, each with its count and its interval, on one axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import plotly.graph_objects as go

from app.palette import Palette
from runner.evidence.rates import Interval

_ROW_PX = 74


@dataclass(frozen=True, slots=True)
class RatePoint:
    """One rate of one run: where it lies, how far it may, and its words."""

    value: float
    interval: Interval
    words: str


@dataclass(frozen=True, slots=True)
class RateRow:
    """One measure on both sides; None where a side has no session. `colour` is its meaning."""

    title: str
    a: RatePoint | None
    b: RatePoint | None
    colour: str


def rate_pairs(rows: Sequence[RateRow], palette: Palette) -> go.Figure:
    traces: list[go.Scatter] = []
    texts: list[dict[str, Any]] = []
    for number, row in enumerate(rows):
        top = -float(number)
        texts.append(_text(0, top, f"<b>{escape(row.title)}</b>", palette.text))
        for letter, point, y in (("A", row.a, top - 0.36), ("B", row.b, top - 0.68)):
            texts.append(_text(0, y, _words(letter, point), palette.muted))
            traces += _interval(point, y, row.colour) if point is not None else []
    return go.Figure(data=traces, layout=_layout(len(rows), palette) | {"annotations": texts})


def _words(letter: str, point: RatePoint | None) -> str:
    return f"{letter}  {escape(point.words) if point else 'no session'}"


def _text(x: float, y: float, text: str, ink: str) -> dict[str, Any]:
    return {
        "x": x,
        "y": y,
        "xref": "paper",
        "text": text,
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "middle",
        "align": "left",
        "font": {"size": 12, "color": ink},
    }


def _interval(point: RatePoint, y: float, colour: str) -> list[go.Scatter]:
    low, high = (100 * end for end in point.interval)
    line = go.Scatter(
        x=[low, high],
        y=[y, y],
        mode="lines+markers",
        line={"color": colour, "width": 1.6},
        marker={"symbol": "line-ns-open", "size": 9, "color": colour},
        hoverinfo="skip",
    )
    dot = go.Scatter(
        x=[100 * point.value],
        y=[y],
        mode="markers",
        marker={"size": 9, "color": colour},
        hovertemplate=escape(point.words) + "<extra></extra>",
    )
    return [line, dot]


def _layout(rows: int, palette: Palette) -> dict[str, Any]:
    return {
        "height": _ROW_PX * rows + 46,
        "margin": {"l": 0, "r": 10, "t": 6, "b": 34},
        "showlegend": False,
        "dragmode": False,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "xaxis": {
            "domain": [0.5, 1],
            "range": [-2, 102],
            "tickvals": [0, 25, 50, 75, 100],
            "ticktext": ["0", "25", "50", "75", "100 %"],
            "showgrid": True,
            "gridcolor": palette.border,
            "zeroline": False,
            "fixedrange": True,
            "tickfont": {"size": 11, "color": palette.muted},
        },
        "yaxis": {"visible": False, "range": [-rows + 0.05, 0.3], "fixedrange": True},
    }
