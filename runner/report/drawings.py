"""The figures of a report as SVG, drawn from their data; colours and fonts are the page's classes.

Sizes are in the units of the picture, which is `WIDTH` of them wide.
"""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from db.vocabulary import OutcomeClass
from runner.report.document import (
    Figure,
    Link,
    OutcomeFigure,
    RateFigure,
    RateMark,
    ReportDocument,
    TurnBar,
    TurnFigure,
)
from runner.report.text_figures import rate_scale
from runner.report.visible_text import one_line

WIDTH = 860
_ROW = 26
_TOP = 30
_LEFT, _RIGHT = 330, 640  # of the area that is drawn in; labels before, words behind
_MOST_LABEL = 52
_GRID_LINES = 4


def svg_figure(figure: Figure, document: ReportDocument, *, style: str = "") -> str:
    """One `svg` element; `style` is a style sheet to be put into it, for pages that have none."""
    match figure:
        case RateFigure():
            return _rates(figure, document, style)
        case OutcomeFigure():
            return _outcomes(figure, document, style)
        case TurnFigure():
            return _turns(figure, document, style)


def _rates(figure: RateFigure, document: ReportDocument, style: str) -> str:
    svg = _canvas(figure.caption, rows=len(figure.marks), style=style)
    end = rate_scale(figure.marks)
    _axis(svg, rows=len(figure.marks), labels=[f"{end * i / _GRID_LINES:.0%}" for i in range(5)])
    for row, mark in enumerate(figure.marks):
        middle = _TOP + row * _ROW + _ROW / 2
        _label(svg, mark.label, document, middle)
        _rate_mark(svg, mark, middle, end)
        _text(svg, _RIGHT + 12, middle + 4, one_line(mark.said), "said")
    return _as_text(svg)


def _rate_mark(svg: Element, mark: RateMark, middle: float, end: float) -> None:
    kind = "corrupt" if mark.rate else "clean"
    if mark.low is not None and mark.high is not None:
        low, high = _across(mark.low / end), _across(mark.high / end)
        SubElement(
            svg,
            "rect",
            {
                "x": _number(low),
                "y": _number(middle - 3),
                "width": _number(max(1.0, high - low)),
                "height": "6",
                "class": f"span {kind}",
            },
        )
    for rate in mark.of_runs:
        _dot(svg, _across(rate / end), middle, 3, "of-run")
    if mark.rate is not None:
        _dot(svg, _across(mark.rate / end), middle, 5.5, kind)


def _outcomes(figure: OutcomeFigure, document: ReportDocument, style: str) -> str:
    svg = _canvas(figure.caption, rows=len(figure.bars), style=style)
    most = max((sum(number for _, number in bar.counts) for bar in figure.bars), default=0) or 1
    _axis(svg, rows=len(figure.bars), labels=["0", "", f"{most / 2:g}", "", f"{most:,}"])
    for row, bar in enumerate(figure.bars):
        top = _TOP + row * _ROW + 5
        _label(svg, bar.label, document, top + 8)
        left = 0.0
        for kind, number in bar.counts:
            if not number:
                continue
            _bar(svg, left / most, (left + number) / most, top, _ROW - 10, str(kind))
            left += number
        said = ", ".join(f"{number:,} {kind}" for kind, number in bar.counts if number)
        _text(svg, _RIGHT + 12, top + 12, said or "no sessions", "said")
    return _as_text(svg)


def _turns(figure: TurnFigure, document: ReportDocument, style: str) -> str:
    svg = _canvas(figure.caption, rows=len(figure.bars), style=style)
    end_s = max((bar.ends_s for bar in figure.bars), default=0.0) or 1.0
    labels = [f"{end_s * i / _GRID_LINES:.1f} s" for i in range(_GRID_LINES + 1)]
    _axis(svg, rows=len(figure.bars), labels=labels)
    for row, bar in enumerate(figure.bars):
        top = _TOP + row * _ROW + 5
        _text(svg, _LEFT - 12, top + 12, _cut(one_line(bar.label)), "label")
        _turn(svg, bar, top, end_s)
        _text(svg, _RIGHT + 12, top + 12, one_line(bar.said), "said")
    return _as_text(svg)


def _turn(svg: Element, bar: TurnBar, top: float, end_s: float) -> None:
    streams_from = bar.ends_s if bar.first_token_s is None else bar.first_token_s
    kind = "neutral" if bar.outcome_class is None else str(bar.outcome_class)
    _bar(svg, bar.starts_s / end_s, streams_from / end_s, top + 5, 6, "waiting")
    if bar.first_token_s is not None:
        _bar(svg, streams_from / end_s, bar.ends_s / end_s, top, _ROW - 10, kind)


def _canvas(caption: str, *, rows: int, style: str) -> Element:
    height = _TOP + rows * _ROW + 8
    svg = Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {WIDTH} {height}",
            "role": "img",
            "class": "figure",
        },
    )
    SubElement(svg, "title").text = one_line(caption)
    if style:
        SubElement(svg, "style").text = style
    return svg


def _axis(svg: Element, *, rows: int, labels: Sequence[str]) -> None:
    bottom = _TOP + rows * _ROW
    for place, label in enumerate(labels):
        x = _across(place / (len(labels) - 1))
        line = {"x1": _number(x), "x2": _number(x), "y1": str(_TOP - 4), "y2": str(bottom)}
        SubElement(svg, "line", {**line, "class": "grid"})
        _text(svg, x, _TOP - 12, label, "tick")


def _label(svg: Element, label: Link, document: ReportDocument, middle: float) -> None:
    shown = one_line(label.text)
    address = document.address(label)
    parent = svg if address is None else SubElement(svg, "a", {"href": address})
    text = _text(parent, _LEFT - 12, middle + 4, _cut(shown), "label")
    if len(shown) > _MOST_LABEL:
        SubElement(text, "title").text = shown


def _cut(label: str) -> str:
    return label if len(label) <= _MOST_LABEL else f"{label[: _MOST_LABEL - 1]}…"


def _bar(svg: Element, low: float, high: float, top: float, height: float, kind: str) -> None:
    """Seen also where it is short; `low` and `high` are parts of the width."""
    left = _across(low)
    shape = {"x": _number(left), "y": _number(top), "height": _number(height), "class": kind}
    SubElement(svg, "rect", {**shape, "width": _number(max(1.5, _across(high) - left))})


def _dot(svg: Element, x: float, y: float, radius: float, kind: str) -> None:
    place = {"cx": _number(x), "cy": _number(y), "r": _number(radius), "class": kind}
    SubElement(svg, "circle", place)


def _text(parent: Element, x: float, y: float, said: str, kind: str) -> Element:
    text = SubElement(parent, "text", {"x": _number(x), "y": _number(y), "class": kind})
    text.text = said
    return text


def _across(share: float) -> float:
    return _LEFT + max(0.0, min(1.0, share)) * (_RIGHT - _LEFT)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _as_text(svg: Element) -> str:
    return tostring(svg, encoding="unicode")


def legend() -> tuple[OutcomeClass, ...]:
    """The classes in the order in which bars show them."""
    return (OutcomeClass.CLEAN, OutcomeClass.CORRUPT, OutcomeClass.SILENT, OutcomeClass.OURS)
