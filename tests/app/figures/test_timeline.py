"""Lines over time: the same colour for the same thing, and marks where something happened."""

import pandas as pd

from app.figures.timeline import Band, Mark, TurnBar, run_timeline, session_timeline
from app.palette import LIGHT
from db.vocabulary import OutcomeClass

LINES = pd.DataFrame(
    {
        "series": ["in flight (client)", "in flight (client)", "running", "running"],
        "seconds": [0.0, 5.0, 0.0, 4.0],
        "value": [3.0, 1.0, 2.0, 2.0],
    }
)
NOTHING = pd.DataFrame({"series": [], "seconds": [], "value": []})
TURN = TurnBar("turn 1", 1.0, 0.5, 2.0, OutcomeClass.CORRUPT, "leak")


def test_each_series_is_a_step_line_in_the_colour_of_its_meaning() -> None:
    figure = run_timeline(LINES, corrupt_at_s=[], bands=[], marks=[], palette=LIGHT)

    assert [(trace.name, trace.line.color, trace.line.shape) for trace in figure.data] == [
        ("in flight (client)", LIGHT.text, "hv"),
        ("running", LIGHT.clean, "hv"),
    ]


def test_corrupt_sessions_are_dots_on_the_first_line() -> None:
    figure = run_timeline(LINES, corrupt_at_s=[1.0, 6.0], bands=[], marks=[], palette=LIGHT)

    dots = figure.data[-1]
    assert list(dots.x) == [1.0, 6.0]
    assert list(dots.y) == [3.0, 1.0]
    assert dots.marker.color == LIGHT.corrupt


def test_a_wedge_is_a_band_and_the_end_a_line() -> None:
    figure = run_timeline(
        LINES,
        corrupt_at_s=[],
        bands=[Band(1.0, 3.0, "wedge, 2 s")],
        marks=[Mark(5.0, "done")],
        palette=LIGHT,
    )

    assert [shape.type for shape in figure.layout.shapes] == ["rect", "line"]
    assert any("wedge, 2 s" in note.text for note in figure.layout.annotations)


def test_a_run_without_any_line_can_be_drawn() -> None:
    figure = run_timeline(NOTHING, corrupt_at_s=[1.0], bands=[], marks=[], palette=LIGHT)

    assert list(figure.data[0].y) == [0.0]


def test_a_turn_waits_in_grey_and_streams_in_the_colour_of_its_class() -> None:
    figure = session_timeline([TURN], LINES, divergence=None, event_at_s=[], palette=LIGHT)

    wait, stream = figure.data[:2]
    assert (wait.base[0], wait.x[0], wait.marker.color) == (1.0, 0.5, LIGHT.pending)
    assert (stream.base[0], stream.x[0], stream.marker.color) == (1.5, 2.0, LIGHT.corrupt)


def test_the_end_of_a_bad_session_is_marked_through_both_parts() -> None:
    figure = session_timeline(
        [TURN], LINES, divergence=Mark(3.5, "leak"), event_at_s=[2.0], palette=LIGHT
    )

    assert any("leak" in note.text for note in figure.layout.annotations)
    assert any(trace.mode == "markers" for trace in figure.data if trace.type == "scatter")


def test_a_session_without_turns_can_be_drawn() -> None:
    figure = session_timeline([], NOTHING, divergence=None, event_at_s=[], palette=LIGHT)

    assert figure.layout.height > 0
