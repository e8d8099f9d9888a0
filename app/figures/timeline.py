"""Lines over the seconds of a run or a session, with what happened on them; pure drawing.

The names of the lines stand in their colours above them, so that nothing lies on the data. Layouts
are written out whole: Plotly checks a figure again for each part that is added to it later.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from app.palette import Palette
from db.vocabulary import OutcomeClass

_TURN_ROW_PX = 26
_LINES_PX = 170
_BETWEEN_PX = 44
_DASHES = {"solid": "━", "dash": "╍", "dot": "┅", "dashdot": "━·", "longdash": "╺╸"}


@dataclass(frozen=True, slots=True)
class TurnBar:
    """One turn: from `start_s` it waits `wait_s` for its first token, then streams `stream_s`."""

    label: str
    start_s: float
    wait_s: float
    stream_s: float
    outcome_class: OutcomeClass
    note: str


@dataclass(frozen=True, slots=True)
class Band:
    """A span of time that is shaded, with its words."""

    start_s: float
    end_s: float
    words: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment on the axis, drawn as a dashed line with its words."""

    at_s: float
    words: str


def run_timeline(
    lines: pd.DataFrame,
    *,
    corrupt_at_s: Sequence[float],
    bands: Sequence[Band],
    marks: Sequence[Mark],
    palette: Palette,
    height: int = 250,
    until_s: float | None = None,
) -> go.Figure:
    """`lines` has `series`, `seconds`, `value`; dots stand where corrupt sessions ended.

    `until_s` widens the axis, so that two runs can be laid under each other.
    """
    traces = _line_traces(lines, palette)
    if corrupt_at_s:
        traces.append(_corrupt_dots(corrupt_at_s, lines, palette))
    axis = _axis(palette)
    seconds = axis | {"title": _axis_title("seconds since the first request")}
    seconds["range"] = [0, 1.03 * max(until_s or 0.0, _last_second(lines, bands, marks))]
    layout = _layout(height) | {
        "xaxis": seconds,
        "yaxis": axis | {"range": [0, 1.06 * _top(lines)]},
        "shapes": [_band_shape(band, palette) for band in bands]
        + [_mark_shape(mark, palette.muted, "dot") for mark in marks],
        "annotations": [_names(lines, palette)]
        + [_words_at(band.start_s, band.words, palette.on_silent) for band in bands]
        + [_words_at(mark.at_s, mark.words, palette.muted) for mark in marks],
    }
    return go.Figure(data=traces, layout=layout)


def session_timeline(
    turns: Sequence[TurnBar],
    lines: pd.DataFrame,
    *,
    divergence: Mark | None,
    event_at_s: Sequence[float],
    palette: Palette,
) -> go.Figure:
    """Turns as bars above, requests of the whole run in the same seconds below."""
    rows_px = _TURN_ROW_PX * (len(turns) + bool(event_at_s)) + 8
    whole_px = rows_px + _BETWEEN_PX + _LINES_PX
    below = _LINES_PX / whole_px
    axis = _axis(palette)
    traces: list[Any] = [bar for turn in turns for bar in _turn_bars(turn, palette)]
    if event_at_s:
        traces.append(_event_ticks(event_at_s, palette))
    marks = [divergence] if divergence else []
    layout = _layout(whole_px + 70) | {
        "barmode": "overlay",
        "xaxis": axis | {"title": _axis_title("seconds since the first request of the run")},
        "yaxis": axis | {"domain": [0, below], "range": [0, 1.06 * _top(lines)]},
        "yaxis2": axis
        | {"domain": [below + _BETWEEN_PX / whole_px, 1], "autorange": "reversed"}
        | {"showgrid": False, "anchor": "x"},
        "shapes": [_mark_shape(mark, palette.corrupt, "dash") for mark in marks],
        "annotations": [_names(lines, palette)]
        + [_words_at(mark.at_s, mark.words, palette.corrupt) for mark in marks],
    }
    return go.Figure(data=traces + _line_traces(lines, palette), layout=layout)


def _turn_bars(turn: TurnBar, palette: Palette) -> list[go.Bar]:
    colours = {
        OutcomeClass.CLEAN: palette.clean,
        OutcomeClass.CORRUPT: palette.corrupt,
        OutcomeClass.SILENT: palette.silent,
        OutcomeClass.OURS: palette.ours,
    }
    shared: dict[str, Any] = {
        "y": [turn.label],
        "yaxis": "y2",
        "orientation": "h",
        "width": 0.56,
        "hoverinfo": "text",
        "hovertext": escape(f"{turn.label}: {turn.note}"),
    }
    wait = go.Bar(x=[turn.wait_s], base=[turn.start_s], marker={"color": palette.pending}, **shared)
    stream = go.Bar(
        x=[turn.stream_s],
        base=[turn.start_s + turn.wait_s],
        marker={"color": colours[turn.outcome_class]},
        text=[escape(f" {turn.note}")],
        textposition="outside",
        textfont={"size": 11, "color": palette.text},
        cliponaxis=False,
        **shared,
    )
    return [wait, stream]


def _event_ticks(event_at_s: Sequence[float], palette: Palette) -> go.Scatter:
    return go.Scatter(
        x=list(event_at_s),
        y=["log events"] * len(event_at_s),
        yaxis="y2",
        mode="markers",
        marker={"symbol": "line-ns-open", "size": 11, "color": palette.text},
        hovertemplate="%{x:.1f} s<extra></extra>",
    )


def _line_traces(lines: pd.DataFrame, palette: Palette) -> list[Any]:
    traces = []
    styles = line_styles([str(series) for series in lines["series"].unique()], palette)
    for series, points in lines.groupby("series", sort=False):
        colour, dash = styles[str(series)]
        traces.append(
            go.Scatter(
                x=points["seconds"].to_numpy(float),
                y=points["value"].to_numpy(float),
                mode="lines",
                line={"shape": "hv", "width": 1.6, "color": colour, "dash": dash},
                name=escape(str(series)),
                hovertemplate="%{y:g} %{fullData.name} at %{x:.1f} s<extra></extra>",
            )
        )
    return traces


def _names(lines: pd.DataFrame, palette: Palette) -> dict[str, Any]:
    """The names of the lines in one row above them, each in its colour."""
    styles = line_styles([str(series) for series in lines["series"].unique()], palette)
    names = [
        f'<span style="color:{colour}">{_DASHES[dash]} {escape(series)}</span>'
        for series, (colour, dash) in styles.items()
    ]
    return {
        "x": 0,
        "xref": "x domain",
        "y": 1,
        "yref": "y domain",
        "text": "   ".join(names),
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "bottom",
        "bgcolor": palette.background,
        "font": {"size": 11},
    }


def line_styles(series: Sequence[str], palette: Palette) -> dict[str, tuple[str, str]]:
    """Colour by what a line counts, the same on every page; no two lines look alike."""
    styles: dict[str, tuple[str, str]] = {}
    for name in series:
        colour, first = _colour_and_dash(name, palette)
        free = [dash for dash in (first, *_DASHES) if (colour, dash) not in styles.values()]
        others = [palette.silent, palette.ours, palette.clean, palette.text]
        spare = [
            (other, dash)
            for other in others
            for dash in _DASHES
            if (other, dash) not in styles.values()
        ]
        styles[name] = (colour, free[0]) if free else (spare or [(colour, first)])[0]
    return styles


def _colour_and_dash(series: str, palette: Palette) -> tuple[str, str]:
    if series.startswith("in flight"):
        return palette.text, "solid"
    if series.startswith("running"):
        return palette.clean, "solid"
    if series.startswith("queued"):
        return palette.ours, "dot"
    return palette.silent, "dash"


def _corrupt_dots(
    corrupt_at_s: Sequence[float], lines: pd.DataFrame, palette: Palette
) -> go.Scatter:
    """On the first line where there is one, so that the eye sees when in the run they ended."""
    first = lines[lines["series"] == lines["series"].iloc[0]] if len(lines) else lines
    places = np.searchsorted(first["seconds"].to_numpy(float), list(corrupt_at_s), side="left")
    heights = first["value"].to_numpy(float)
    return go.Scatter(
        x=list(corrupt_at_s),
        y=[heights[max(0, place - 1)] if len(heights) else 0.0 for place in places],
        mode="markers",
        marker={"color": palette.corrupt, "size": 7, "symbol": "circle"},
        hovertemplate="corrupt session ended at %{x:.1f} s<extra></extra>",
    )


def _band_shape(band: Band, palette: Palette) -> dict[str, Any]:
    return {
        "type": "rect",
        "x0": band.start_s,
        "x1": band.end_s,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "fillcolor": palette.silent_tint,
        "line": {"width": 0},
        "layer": "below",
    }


def _mark_shape(mark: Mark, colour: str, dash: str) -> dict[str, Any]:
    return {
        "type": "line",
        "x0": mark.at_s,
        "x1": mark.at_s,
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "line": {"color": colour, "width": 1.2, "dash": dash},
    }


def _words_at(at_s: float, words: str, colour: str) -> dict[str, Any]:
    """Just above the picture, beginning or ending at the moment, whichever stays inside."""
    return {
        "x": at_s,
        "y": 1,
        "yref": "paper",
        "text": f"<b>{escape(words)}</b>",
        "showarrow": False,
        "xanchor": "auto",
        "yanchor": "bottom",
        "yshift": 12,
        "font": {"size": 11, "color": colour},
    }


def _last_second(lines: pd.DataFrame, bands: Sequence[Band], marks: Sequence[Mark]) -> float:
    ends = [band.end_s for band in bands] + [mark.at_s for mark in marks]
    last = float(lines["seconds"].max()) if len(lines) else 0.0
    return max(1.0, last, *ends)


def _top(lines: pd.DataFrame) -> float:
    return max(1.0, float(lines["value"].max())) if len(lines) else 1.0


def _axis_title(words: str) -> dict[str, Any]:
    return {"text": words, "font": {"size": 11}, "standoff": 6}


def _axis(palette: Palette) -> dict[str, Any]:
    return {
        "gridcolor": palette.border,
        "zeroline": False,
        "fixedrange": True,
        "tickfont": {"size": 11, "color": palette.muted},
        "color": palette.muted,
    }


def _layout(height: int) -> dict[str, Any]:
    return {
        "height": height,
        "margin": {"l": 8, "r": 12, "t": 36, "b": 8},
        "showlegend": False,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        "dragmode": False,
    }
