"""The runs of a campaign on the clock: one lane an arm, so that order and drift can be seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Any

import plotly.graph_objects as go

from app.palette import Palette

_LANE_PX = 27
_SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True)
class GanttBar:
    """One run. Times are UTC microseconds; `colour` None draws a dashed outline: it does not count.

    `driving_us` None: it never came to drive sessions.
    """

    run_id: int
    lane: int
    started_us: int
    driving_us: int | None
    ended_us: int
    colour: str | None
    is_thin: bool
    words: str
    note: str


def run_gantt(bars: Sequence[GanttBar], lanes: Sequence[str], palette: Palette) -> go.Figure:
    """`lanes` from the top downwards. A click gives back the run's id."""
    traces: list[Any] = []
    shapes: list[dict[str, Any]] = []
    texts = [_lane_label(number, name, palette) for number, name in enumerate(lanes)]
    for bar in bars:
        begun = bar.driving_us if bar.driving_us is not None else bar.started_us
        traces.append(_bar(bar, begun, palette))
        shapes.append(_wait(bar, begun, palette))
        if bar.words:
            texts.append(_words(bar, begun, palette))
    layout = _layout(len(lanes), palette) | {"shapes": shapes, "annotations": texts}
    return go.Figure(data=traces, layout=layout)


def _bar(bar: GanttBar, begun_us: int, palette: Palette) -> go.Bar:
    fill = bar.colour or palette.background
    outline = palette.ours if bar.colour is None else palette.border
    marker: dict[str, Any] = {"color": fill, "line": {"width": 1, "color": outline}}
    if bar.is_thin and bar.colour is not None:
        marker["pattern"] = {"shape": "/", "fgcolor": palette.hatch, "bgcolor": fill, "size": 6}
        marker["pattern"]["solidity"] = 0.2
    return go.Bar(
        x=[max(1.0, (bar.ended_us - begun_us) / 1000)],
        base=[_at(begun_us)],
        y=[bar.lane],
        width=0.58,
        orientation="h",
        marker=marker,
        customdata=[bar.run_id],
        hoverinfo="text",
        hovertext=escape(bar.note),
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )


def _wait(bar: GanttBar, begun_us: int, palette: Palette) -> dict[str, Any]:
    return {
        "type": "line",
        "x0": _at(bar.started_us),
        "x1": _at(begun_us),
        "y0": bar.lane,
        "y1": bar.lane,
        "line": {"color": palette.ours, "width": 1.4},
    }


def _words(bar: GanttBar, begun_us: int, palette: Palette) -> dict[str, Any]:
    """Right of the bar where there is always room: the next run of a lane comes much later."""
    return {
        "x": _at(bar.ended_us),
        "y": bar.lane,
        "text": f"<b>{escape(bar.words)}</b>",
        "showarrow": False,
        "xanchor": "left",
        "xshift": 3,
        "font": {"size": 11, "color": palette.text},
    }


def _lane_label(number: int, name: str, palette: Palette) -> dict[str, Any]:
    return {
        "x": 0,
        "xref": "paper",
        "y": number,
        "yshift": 0,
        "text": escape(name),
        "showarrow": False,
        "xanchor": "right",
        "xshift": -8,
        "font": {"size": 11, "color": palette.muted},
    }


def _at(at_us: int) -> str:
    return datetime.fromtimestamp(at_us / _SECOND_US, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


def _layout(lanes: int, palette: Palette) -> dict[str, Any]:
    return {
        "height": _LANE_PX * lanes + 44,
        "margin": {"l": 168, "r": 44, "t": 4, "b": 34},
        "barmode": "overlay",
        "showlegend": False,
        "dragmode": False,
        "clickmode": "event+select",
        "hovermode": "closest",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "xaxis": {
            "type": "date",
            "gridcolor": palette.border,
            "fixedrange": True,
            "tickformat": "%H:%M",
            "tickfont": {"size": 11, "color": palette.muted},
        },
        "yaxis": {
            "visible": False,
            "range": [lanes - 0.5, -0.5],
            "fixedrange": True,
        },
    }
