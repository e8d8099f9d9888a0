"""The runs of a campaign on the clock: one lane an arm, so that order and drift can be seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Any

import plotly.graph_objects as go

from app.palette import Palette

_LANE_PX = 44
_BAR_HEIGHT = 0.42
_LABEL_ABOVE_PX = 19
_MOST_WORDS = 80
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
    """`lanes` from the top downwards. A click gives back the run's id.

    One trace a look, not one a run: Plotly takes seconds over a thousand traces.
    """
    by_look: dict[tuple[str | None, bool], list[GanttBar]] = {}
    for bar in bars:
        by_look.setdefault((bar.colour, bar.is_thin and bar.colour is not None), []).append(bar)
    traces: list[Any] = [
        _bars(alike, colour, is_thin=is_thin, palette=palette)
        for (colour, is_thin), alike in by_look.items()
    ]
    traces.append(_waits(bars, palette))
    texts = [_lane_label(number, name, palette) for number, name in enumerate(lanes)]
    told = [bar for bar in bars if bar.words]
    if len(told) <= _MOST_WORDS:
        texts += [_words(bar, palette) for bar in told]
    return go.Figure(data=traces, layout=_layout(len(lanes), palette) | {"annotations": texts})


def _bars(
    bars: Sequence[GanttBar], colour: str | None, *, is_thin: bool, palette: Palette
) -> go.Bar:
    fill = colour or palette.background
    outline = palette.ours if colour is None else palette.border
    marker: dict[str, Any] = {"color": fill, "line": {"width": 1, "color": outline}}
    if is_thin:
        marker["pattern"] = {"shape": "/", "fgcolor": palette.hatch, "bgcolor": fill, "size": 6}
        marker["pattern"]["solidity"] = 0.2
    return go.Bar(
        x=[max(1.0, (bar.ended_us - _begun_us(bar)) / 1000) for bar in bars],
        base=[_at(_begun_us(bar)) for bar in bars],
        y=[bar.lane for bar in bars],
        width=_BAR_HEIGHT,
        orientation="h",
        marker=marker,
        customdata=[bar.run_id for bar in bars],
        hoverinfo="text",
        hovertext=[escape(bar.note) for bar in bars],
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )


def _waits(bars: Sequence[GanttBar], palette: Palette) -> go.Scatter:
    """From the start of each run to its first request; a gap between any two."""
    x: list[str | None] = []
    y: list[int | None] = []
    for bar in bars:
        x += [_at(bar.started_us), _at(_begun_us(bar)), None]
        y += [bar.lane, bar.lane, None]
    line = {"color": palette.ours, "width": 1.4}
    return go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip")


def _begun_us(bar: GanttBar) -> int:
    return bar.started_us if bar.driving_us is None else bar.driving_us


def _words(bar: GanttBar, palette: Palette) -> dict[str, Any]:
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
        "yshift": _LABEL_ABOVE_PX,
        "text": escape(name),
        "showarrow": False,
        "xanchor": "left",
        "font": {"size": 11, "color": palette.muted},
    }


def _at(at_us: int) -> str:
    return datetime.fromtimestamp(at_us / _SECOND_US, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")


def _layout(lanes: int, palette: Palette) -> dict[str, Any]:
    return {
        "height": _LANE_PX * lanes + 42,
        "margin": {"l": 4, "r": 44, "t": 8, "b": 34},
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
            "range": [lanes - 0.5, -0.6],
            "fixedrange": True,
        },
    }
