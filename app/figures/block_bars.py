"""Outcomes of an arm run by run, in the order of the clock: whether they drift can be seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import plotly.graph_objects as go

from app.palette import Palette


@dataclass(frozen=True, slots=True)
class BlockBar:
    """One finished run: its label below the bar, and sessions by class."""

    label: str
    corrupt: int
    clean: int
    silent: int

    @property
    def total(self) -> int:
        return self.corrupt + self.clean + self.silent


def block_bars(bars: Sequence[BlockBar], palette: Palette) -> go.Figure:
    """Corrupt at the bottom, so that its height is compared from one line."""
    silent = {"shape": "/", "fgcolor": palette.silent, "bgcolor": palette.silent_tint, "size": 6}
    parts: list[tuple[str, list[int], dict[str, Any], str]] = [
        ("corrupt", [bar.corrupt for bar in bars], {"color": palette.corrupt}, palette.on_strong),
        ("clean", [bar.clean for bar in bars], {"color": palette.clean_tint}, palette.text),
        ("silent", [bar.silent for bar in bars], {"pattern": silent}, palette.on_silent),
    ]
    labels = [bar.label for bar in bars]
    traces = [
        go.Bar(
            x=labels,
            y=numbers,
            name=word,
            marker=marker | {"line": {"width": 0}},
            text=[f"{number} {word}" if number else "" for number in numbers],
            textposition="inside",
            insidetextanchor="middle",
            textangle=0,
            textfont={"size": 11, "color": ink},
            constraintext="none",
            hovertemplate="%{x}: %{y} " + escape(word) + "<extra></extra>",
        )
        for word, numbers, marker, ink in parts
        if any(numbers)
    ]
    return go.Figure(data=traces, layout=_layout(bars, palette))


def _layout(bars: Sequence[BlockBar], palette: Palette) -> dict[str, Any]:
    font = {"size": 11, "color": palette.muted}
    return {
        "height": 190,
        "margin": {"l": 34, "r": 4, "t": 8, "b": 30},
        "barmode": "stack",
        "bargap": 0.35,
        "showlegend": False,
        "dragmode": False,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "uniformtext": {"mode": "hide", "minsize": 10},
        "xaxis": {"type": "category", "fixedrange": True, "tickfont": font},
        "yaxis": {
            "fixedrange": True,
            "rangemode": "tozero",
            "gridcolor": palette.border,
            "zeroline": False,
            "nticks": 4,
            "tickfont": font,
            "range": [0, max([1, *(bar.total for bar in bars)])],
        },
    }
