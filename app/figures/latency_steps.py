"""How long sessions waited for their first token: the share that had it within so many seconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import plotly.graph_objects as go

from app.palette import Palette

_MOST_POINTS = 400


@dataclass(frozen=True, slots=True)
class WaitedLine:
    """`seconds` sorted; `name` says whose they are. The first line is the one looked at."""

    name: str
    seconds: Sequence[float]


def latency_steps(lines: Sequence[WaitedLine], palette: Palette) -> go.Figure:
    """An empirical distribution: a step at each session; many are thinned out, never smoothed."""
    styles = [(palette.text, "solid"), (palette.ours, "dot")]
    traces, names = [], []
    for line, (colour, dash) in zip(lines, styles, strict=False):
        x, y = _steps(line.seconds)
        traces.append(
            go.Scatter(
                x=x,
                y=y,
                mode="lines",
                line={"shape": "hv", "width": 1.6, "color": colour, "dash": dash},
                hovertemplate="%{y:.1f} % within %{x:.2f} s<extra></extra>",
            )
        )
        mark = "━" if dash == "solid" else "┅"
        count = len(line.seconds)
        names.append(f'<span style="color:{colour}">{mark} {escape(line.name)}, n = {count}</span>')
    layout = _layout(palette)
    layout["annotations"] = [_names("   ".join(names))]
    return go.Figure(data=traces, layout=layout)


def _steps(seconds: Sequence[float]) -> tuple[list[float], list[float]]:
    count = len(seconds)
    stride = max(1, count // _MOST_POINTS)
    places = sorted({*range(0, count, stride), count - 1})
    return (
        [0.0, *(float(seconds[place]) for place in places)],
        [0.0, *(100 * (place + 1) / count for place in places)],
    )


def _names(text: str) -> dict[str, Any]:
    return {
        "x": 0,
        "xref": "paper",
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "xanchor": "left",
        "text": text,
        "showarrow": False,
        "font": {"size": 11},
    }


def _layout(palette: Palette) -> dict[str, Any]:
    axis = {
        "gridcolor": palette.border,
        "zeroline": False,
        "fixedrange": True,
        "tickfont": {"size": 11, "color": palette.muted},
        "color": palette.muted,
    }
    title = {"text": "seconds to the first token of the session", "font": {"size": 11}}
    return {
        "height": 210,
        "margin": {"l": 8, "r": 8, "t": 24, "b": 8},
        "showlegend": False,
        "dragmode": False,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "xaxis": axis | {"rangemode": "tozero", "title": title | {"standoff": 6}},
        "yaxis": axis | {"range": [0, 102], "ticksuffix": " %", "nticks": 5},
    }
