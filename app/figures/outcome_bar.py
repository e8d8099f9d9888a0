"""One bar for all sessions of a cell or run: corrupt, clean, silent, and the limits below it."""

from html import escape
from typing import Any

import plotly.graph_objects as go

from app.palette import Palette
from runner.evidence.counts import SessionCounts
from runner.evidence.rates import RateBounds
from runner.evidence.wording import fraction_text, percent_text

_ROOM_FOR_WORDS = 0.16
"""Of the whole width: parts that are narrower carry no words."""


def outcome_bar(counts: SessionCounts, palette: Palette) -> go.Figure:
    """Sessions from left to right; below, where the corrupt rate lies whatever the silent were."""
    bars: list[go.Bar] = []
    texts: list[dict[str, Any]] = []
    left = 0
    for words, number, marker, ink in _parts(counts, palette):
        if number:
            bars.append(_part(left, number, marker, words))
            if number / counts.all > _ROOM_FOR_WORDS:
                texts.append(_inside(left + number / 2, f"{number} {words}", ink, palette))
        left += number
    bounds = counts.bounds
    lines = _limits(bounds, counts.all, palette) if bounds else []
    texts += _limit_words(bounds, counts.all, palette) if bounds else []
    return go.Figure(data=bars, layout=_layout(counts) | {"annotations": texts, "shapes": lines})


def _parts(counts: SessionCounts, palette: Palette) -> list[tuple[str, int, dict[str, Any], str]]:
    hatch = {"shape": "/", "fgcolor": palette.silent, "bgcolor": palette.silent_tint}
    silent = {"color": palette.silent_tint, "pattern": hatch | {"size": 6, "solidity": 0.25}}
    return [
        ("corrupt", counts.corrupt, {"color": palette.corrupt}, palette.on_strong),
        ("clean", counts.not_corrupt, {"color": palette.clean_tint}, palette.text),
        ("silent", counts.silent, silent, palette.on_silent),
    ]


def _part(left: int, number: int, marker: dict[str, Any], words: str) -> go.Bar:
    return go.Bar(
        x=[number],
        base=[left],
        y=[1],
        width=0.9,
        orientation="h",
        marker=marker | {"line": {"width": 0}},
        hovertemplate=f"{number} {escape(words)}<extra></extra>",
    )


def _inside(x: float, text: str, ink: str, palette: Palette) -> dict[str, Any]:
    backdrop = {"bgcolor": palette.silent_tint} if text.endswith("silent") else {}
    font = {"size": 11, "color": ink}
    return {"x": x, "y": 1, "text": escape(text), "showarrow": False, "font": font} | backdrop


def _limits(bounds: RateBounds, total: int, palette: Palette) -> list[dict[str, Any]]:
    low, high = (end * total for end in bounds.wilson())
    line = {"color": palette.corrupt if bounds.low.count else palette.clean, "width": 1.5}
    ends = [
        {"type": "line", "x0": x, "x1": x, "y0": 0.18, "y1": 0.42, "line": line}
        for x in (low, high)
    ]
    return [{"type": "line", "x0": low, "x1": high, "y0": 0.3, "y1": 0.3, "line": line}, *ends]


def _limit_words(bounds: RateBounds, total: int, palette: Palette) -> list[dict[str, Any]]:
    font = {"size": 11, "color": palette.muted}
    shared = {"y": 0.05, "yanchor": "top", "showarrow": False, "font": font}
    if bounds.low == bounds.high:
        text = f"{fraction_text(bounds.low)}, 95 % limits"
        return [shared | {"x": 0, "xanchor": "left", "text": text}]
    return [
        shared
        | {"x": 0, "xanchor": "left", "text": f"{percent_text(bounds.low)} if silent were clean"},
        shared
        | {"x": total, "xanchor": "right", "text": f"{percent_text(bounds.high)} if corrupt"},
    ]


def _layout(counts: SessionCounts) -> dict[str, Any]:
    hidden = {"visible": False, "fixedrange": True}
    return {
        "height": 66,
        "margin": {"l": 1, "r": 1, "t": 0, "b": 0},
        "barmode": "overlay",
        "showlegend": False,
        "dragmode": False,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "xaxis": hidden | {"range": [0, max(1, counts.all)]},
        "yaxis": hidden | {"range": [-0.75, 1.5]},
    }
