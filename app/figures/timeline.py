"""Lines over the seconds of a run or a session, with what happened on them; pure drawing.

The names of the lines stand in their colours above them, so that nothing lies on the data.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from app.palette import Palette
from db.vocabulary import OutcomeClass

_TURN_ROW_PX = 26
_LINES_PX = 190
_DASHES = {"solid": "━", "dot": "┅", "dash": "╍"}


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
) -> go.Figure:
    """`lines` has `series`, `seconds`, `value`; dots stand where corrupt sessions ended."""
    figure = go.Figure()
    _add_lines(figure, lines, palette)
    top = _top(lines)
    if corrupt_at_s:
        figure.add_trace(_corrupt_dots(corrupt_at_s, lines, palette))
    _add_bands(figure, bands, marks, palette)
    figure.update_layout(_layout(palette, height))
    figure.update_yaxes(range=[0, top * 1.06], **_axis(palette))
    figure.update_xaxes(title=_axis_title("seconds since the first request"), **_axis(palette))
    return figure


def session_timeline(
    turns: Sequence[TurnBar],
    lines: pd.DataFrame,
    *,
    divergence: Mark | None,
    event_at_s: Sequence[float],
    palette: Palette,
) -> go.Figure:
    """Turns as bars above, requests of the whole run in the same seconds below."""
    turns_px = _TURN_ROW_PX * (len(turns) + (1 if event_at_s else 0)) + 10
    figure = make_subplots(
        rows=2,
        cols=1,
        shared_xaxes=True,
        vertical_spacing=0.12,
        row_heights=[turns_px, _LINES_PX],
    )
    for turn in turns:
        _add_turn(figure, turn, palette)
    if event_at_s:
        figure.add_trace(_event_ticks(event_at_s, palette), row=1, col=1)
    _add_lines(figure, lines, palette, row=2)
    if divergence is not None:
        _add_divergence(figure, divergence, palette)
    figure.update_layout(_layout(palette, turns_px + _LINES_PX + 60), barmode="overlay")
    figure.update_yaxes(**_axis(palette))
    figure.update_yaxes(autorange="reversed", showgrid=False, row=1, col=1)
    figure.update_yaxes(range=[0, _top(lines) * 1.06], row=2, col=1)
    figure.update_xaxes(**_axis(palette))
    figure.update_xaxes(
        title=_axis_title("seconds since the first request of the run"), row=2, col=1
    )
    return figure


def _add_turn(figure: go.Figure, turn: TurnBar, palette: Palette) -> None:
    colours = {
        OutcomeClass.CLEAN: palette.clean,
        OutcomeClass.CORRUPT: palette.corrupt,
        OutcomeClass.SILENT: palette.silent,
        OutcomeClass.OURS: palette.ours,
    }
    shared: dict[str, Any] = {
        "y": [turn.label],
        "orientation": "h",
        "width": 0.56,
        "hoverinfo": "text",
        "hovertext": escape(f"{turn.label}: {turn.note}"),
    }
    figure.add_trace(
        go.Bar(x=[turn.wait_s], base=[turn.start_s], marker_color=palette.pending, **shared),
        row=1,
        col=1,
    )
    figure.add_trace(
        go.Bar(
            x=[turn.stream_s],
            base=[turn.start_s + turn.wait_s],
            marker_color=colours[turn.outcome_class],
            text=[escape(f" {turn.note}")],
            textposition="outside",
            textfont={"size": 11, "color": palette.text},
            cliponaxis=False,
            **shared,
        ),
        row=1,
        col=1,
    )


def _event_ticks(event_at_s: Sequence[float], palette: Palette) -> go.Scatter:
    return go.Scatter(
        x=list(event_at_s),
        y=["log events"] * len(event_at_s),
        mode="markers",
        marker={"symbol": "line-ns-open", "size": 11, "color": palette.text},
        hovertemplate="%{x:.1f} s<extra></extra>",
    )


def _add_divergence(figure: go.Figure, mark: Mark, palette: Palette) -> None:
    figure.add_vline(x=mark.at_s, line={"color": palette.corrupt, "width": 1.4, "dash": "dash"})
    figure.add_annotation(
        x=mark.at_s,
        y=1,
        xref="x",
        yref="paper",
        yanchor="bottom",
        text=f"<b>{escape(mark.words)}</b>",
        showarrow=False,
        font={"size": 11, "color": palette.corrupt},
    )


def _add_lines(
    figure: go.Figure, lines: pd.DataFrame, palette: Palette, row: int | None = None
) -> None:
    place = {} if row is None else {"row": row, "col": 1}
    names = []
    for series, points in lines.groupby("series", sort=False):
        colour, dash = _line_style(str(series), palette)
        names.append(f'<span style="color:{colour}">{_DASHES[dash]} {escape(str(series))}</span>')
        figure.add_trace(
            go.Scatter(
                x=points["seconds"],
                y=points["value"],
                mode="lines",
                line={"shape": "hv", "width": 1.6, "color": colour, "dash": dash},
                name=escape(str(series)),
                hovertemplate="%{y:g} %{fullData.name} at %{x:.1f} s<extra></extra>",
            ),
            **place,
        )
    figure.add_annotation(
        x=0,
        xref="x domain" if row is None else "x2 domain",
        y=1,
        yref="y domain" if row is None else "y2 domain",
        text="   ".join(names),
        showarrow=False,
        xanchor="left",
        yanchor="bottom",
        yshift=1,
        font={"size": 11},
    )


def _line_style(series: str, palette: Palette) -> tuple[str, str]:
    """Colour and dash by what the line counts, the same on every page."""
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


def _add_bands(
    figure: go.Figure, bands: Sequence[Band], marks: Sequence[Mark], palette: Palette
) -> None:
    for band in bands:
        figure.add_vrect(
            x0=band.start_s,
            x1=band.end_s,
            fillcolor=palette.silent_tint,
            line={"width": 0},
            layer="below",
            annotation={
                "text": f"<b>{escape(band.words)}</b>",
                "font": {"size": 11, "color": palette.on_silent},
            },
            annotation_position="top left",
        )
    for mark in marks:
        figure.add_vline(
            x=mark.at_s,
            line={"color": palette.muted, "width": 1, "dash": "dot"},
            annotation={
                "text": escape(mark.words),
                "font": {"size": 11, "color": palette.muted},
            },
            annotation_position="top right",
        )


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


def _layout(palette: Palette, height: int) -> dict[str, Any]:
    return {
        "height": height,
        "margin": {"l": 8, "r": 12, "t": 24, "b": 8},
        "showlegend": False,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        "dragmode": False,
    }
