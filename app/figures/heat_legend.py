"""The legend below the heat map: the six colours, then what hatching and the strip mean."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from app.palette import RATE_LABELS, Palette

# Units of the horizontal axis are boxes; it is as wide as the narrowest screen has room for words.
_WIDTH = 22
_UPPER, _LOWER = 2.3, 0.0


def heat_legend(
    steps: Sequence[str],
    *,
    words: str,
    palette: Palette,
    labels: Sequence[str] = RATE_LABELS,
    few: int = 59,
) -> go.Figure:
    """`words` says what the `labels` of the steps count; below `few` sessions a cell is hatched."""
    boxes = [_box(number, _UPPER, {"color": colour}) for number, colour in enumerate(steps)]
    texts = [_below(number, label, palette) for number, label in enumerate(labels)]
    texts.append(_beside(5.65, _UPPER, words, palette))
    boxes += _hatched(steps, palette)
    texts.append(_beside(1.65, _LOWER, f"hatched: fewer than {few} gave evidence", palette))
    boxes.append(_box(13.6, _LOWER, {"color": palette.silent}, height=0.22))
    texts.append(_beside(14.25, _LOWER, "silent share", palette))
    return go.Figure(data=boxes, layout=_layout() | {"annotations": texts})


def _hatched(steps: Sequence[str], palette: Palette) -> list[go.Bar]:
    few = {"shape": "/", "fgcolor": palette.hatch, "bgcolor": steps[0], "size": 7, "solidity": 0.2}
    limits = {"shape": "/", "fgcolor": steps[5], "bgcolor": steps[2], "size": 7, "solidity": 0.4}
    return [
        _box(0, _LOWER, {"color": steps[0], "pattern": few}),
        _box(1, _LOWER, {"color": steps[2], "pattern": limits}),
    ]


def _box(x: float, y: float, marker: dict[str, Any], *, height: float = 0.9) -> go.Bar:
    outline = {"line": {"width": 0}}
    return go.Bar(
        x=[x], y=[height], base=[y], width=0.96, marker=marker | outline, hoverinfo="skip"
    )


def _beside(x: float, y: float, text: str, palette: Palette) -> dict[str, Any]:
    return _text(x, text, palette) | {"y": y + 0.45, "xanchor": "left", "yanchor": "middle"}


def _below(x: float, text: str, palette: Palette) -> dict[str, Any]:
    return _text(x, text, palette) | {"y": _UPPER, "xanchor": "center", "yanchor": "top"}


def _text(x: float, text: str, palette: Palette) -> dict[str, Any]:
    font = {"size": 11, "color": palette.muted}
    return {"x": x, "text": text, "showarrow": False, "font": font}


def _layout() -> dict[str, Any]:
    hidden = {"visible": False, "fixedrange": True}
    return {
        "height": 62,
        "margin": {"l": 0, "r": 0, "t": 2, "b": 2},
        "barmode": "overlay",
        "showlegend": False,
        "dragmode": False,
        "plot_bgcolor": "rgba(0,0,0,0)",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "xaxis": hidden | {"range": [-0.5, _WIDTH]},
        "yaxis": hidden | {"range": [-0.1, 3.3]},
    }
