"""Figures say what their data say, drawn and in characters."""

from xml.etree import ElementTree

from hypothesis import given, settings

from db.vocabulary import OutcomeClass
from runner.report.document import (
    Figure,
    Link,
    OutcomeBar,
    OutcomeFigure,
    RateFigure,
    RateMark,
    TurnBar,
    TurnFigure,
)
from runner.report.drawings import svg_figure
from runner.report.text_figures import WIDTH, text_figure
from tests.runner.report.documents import any_text, document_of, whole_document

SVG = "{http://www.w3.org/2000/svg}"
ARM = Link("bf16", "/arm?arm=a-5")


def _rates(*marks: RateMark) -> RateFigure:
    return RateFigure("Rates", marks)


def _drawn(figure: Figure) -> ElementTree.Element:
    return ElementTree.fromstring(svg_figure(figure, document_of()))


@settings(deadline=None)
@given(any_text)
def test_a_figure_is_whole_xml_whatever_its_labels_are(text: str) -> None:
    (section,) = whole_document(text).sections

    for block in section.blocks:
        if isinstance(block, RateFigure | OutcomeFigure | TurnFigure):
            _drawn(block)
            assert text_figure(block)


def test_a_rate_lies_where_the_axis_has_it() -> None:
    svg = _drawn(_rates(RateMark(ARM, "12/80", 0.15, 0.10, 0.20, (0.30,))))

    run, rate = svg.findall(f"{SVG}circle")
    (span,) = svg.findall(f"{SVG}rect")
    # The axis ends at 30 %; it is 310 wide and begins at 330.
    assert float(rate.attrib["cx"]) == 330 + 310 * 0.15 / 0.30
    assert float(run.attrib["cx"]) == 330 + 310
    assert float(span.attrib["x"]) == 433.33
    assert float(span.attrib["width"]) == 103.33


def test_an_arm_without_sessions_has_a_line_and_no_mark() -> None:
    svg = _drawn(_rates(RateMark(ARM, "no sessions", None, None, None)))

    assert not svg.findall(f"{SVG}circle")
    assert "no sessions" in "".join(svg.itertext())


def test_a_rate_in_characters() -> None:
    said = text_figure(_rates(RateMark(ARM, "12/80", 0.15, 0.10, 0.20, (0.30,))))

    line = said.splitlines()[0]
    assert line == "bf16 |             -------o------            :| 12/80"
    assert line.index("o") == len("bf16 |") + WIDTH // 2


def test_a_class_that_occurred_once_is_seen() -> None:
    bar = OutcomeBar(ARM, ((OutcomeClass.CLEAN, 9_999), (OutcomeClass.CORRUPT, 1)))
    figure = OutcomeFigure("Outcomes", (bar,))

    shown = text_figure(figure).splitlines()[0]
    widths = [float(each.attrib["width"]) for each in _drawn(figure).findall(f"{SVG}rect")]

    assert shown == f"bf16 |{'.' * (WIDTH - 1)}#|"
    assert min(widths) == 1.5


def test_a_turn_without_a_token_only_waits() -> None:
    figure = TurnFigure("Turns", (TurnBar("turn 0", 0.0, None, 10.0, None, "error"),))

    (bar,) = _drawn(figure).findall(f"{SVG}rect")

    assert bar.attrib["class"] == "waiting"
    assert text_figure(figure).splitlines()[0] == f"turn 0 |{'.' * WIDTH}| error"
