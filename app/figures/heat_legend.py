"""The legend below the heat map: the six colours, and what hatching and outlines mean."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from app.palette import RATE_LABELS, Palette

_STEP_WIDTH = 1.0


def heat_legend(steps: Sequence[str], *, words: str, palette: Palette) -> go.Figure:
    """`words` says of what the steps are per cent."""
    boxes = [_box(number, {"color": colour}) for number, colour in enumerate(steps)]
    texts = [_words(number, label, palette, below=True) for number, label in enumerate(RATE_LABELS)]
    texts.append(_words(5.65, words, palette))
    few = {"shape": "/", "fgcolor": palette.hatch, "bgcolor": steps[0], "size": 7, "solidity": 0.2}
    boxes.append(_box(9.4, {"color": steps[0], "pattern": few}))
    limits = {"shape": "/", "fgcolor": steps[5], "bgcolor": steps[2], "size": 7, "solidity": 0.4}
    boxes.append(_box(10.4, {"color": steps[2], "pattern": limits}))
    texts.append(_words(11.05, "fewer than 59 gave evidence", palette))
    boxes.append(_box(17.6, {"color": palette.silent}, height=0.22))
    texts.append(_words(18.25, "silent share", palette))
    return go.Figure(data=boxes, layout=_layout() | {"annotations": texts})


def _box(x: float, marker: dict[str, Any], *, height: float = 1.0) -> go.Bar:
    return go.Bar(
        x=[x],
        y=[height],
        width=0.96 * _STEP_WIDTH,
        marker=marker | {"line": {"width": 0}},
        hoverinfo="skip",
    )


def _words(x: float, text: str, palette: Palette, *, below: bool = False) -> dict[str, Any]:
    side = {"y": -0.1, "yanchor": "top"} if below else {"y": 0.5, "yanchor": "middle"}
    font = {"size": 11, "color": palette.muted}
    anchor = "center" if below else "left"
    return {"x": x, "text": text, "showarrow": False, "font": font, "xanchor": anchor} | side


def _layout() -> dict[str, Any]:
    hidden = {"visible": False, "fixedrange": True}
    return {
        "height": 42,
        "margin": {"l": 0, "r": 0, "t": 2, "b": 2},
        "barmode": "overlay",
        "showlegend": False,
        "dragmode": False,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "xaxis": hidden | {"range": [-0.5, 22]},
        "yaxis": hidden | {"range": [-1.6, 1.05]},
    }
