"""Forest, clock, drift, waits and load: drawn is what was counted, and names are escaped."""

import pandas as pd

from app.figures.block_bars import BlockBar, block_bars
from app.figures.clock_strip import clock_strip
from app.figures.dose_line import DosePoint, dose_line
from app.figures.latency_steps import WaitedLine, latency_steps
from app.figures.rate_forest import ForestRow, rate_forest
from app.figures.run_gantt import GanttBar, run_gantt
from app.figures.timeline import Band, Mark, line_styles
from app.palette import DARK, LIGHT
from runner.evidence.rates import Interval

HOSTILE = "<b>x</b>"
ROW = ForestRow(
    name=HOSTILE,
    words="5/80  6.3 % [2.7–100]",
    note="75 silent",
    value=0.0625,
    interval=Interval(0.027, 1.0),
    open_to=1.0,
    is_corrupt=True,
)


def test_a_forest_row_has_hatching_a_line_and_a_dot() -> None:
    figure = rate_forest([ROW], LIGHT)

    assert [trace.type for trace in figure.data] == ["bar", "scatter", "scatter"]
    assert figure.data[0].marker.pattern.shape == "/"
    assert list(figure.data[1].x) == [2.7, 100.0]
    assert figure.data[2].marker.color == LIGHT.corrupt
    assert "<b>x</b>" not in figure.layout.annotations[0].text


def test_an_arm_without_a_run_is_named_and_has_no_mark() -> None:
    figure = rate_forest([ForestRow("fp8", "no finished run", "")], DARK)

    assert len(figure.data) == 0
    assert "fp8" in figure.layout.annotations[0].text


def test_the_axis_of_small_rates_is_not_the_whole_scale() -> None:
    small = ForestRow("a", "0/240  ≤ 1.6 %", "", interval=Interval(0.0, 0.016))

    assert rate_forest([small], LIGHT).layout.xaxis.range[1] < 10
    assert rate_forest([small, ROW], LIGHT).layout.xaxis.range[1] == 100


def gantt_bar(run_id: int, *, colour: str | None) -> GanttBar:
    return GanttBar(
        run_id=run_id,
        lane=0,
        started_us=0,
        driving_us=1_000_000,
        ended_us=9_000_000,
        colour=colour,
        is_thin=False,
        words="failed" if colour is None else "12",
        note=HOSTILE,
    )


def test_each_bar_on_the_clock_knows_its_run() -> None:
    figure = run_gantt([gantt_bar(7, colour="#000000"), gantt_bar(8, colour=None)], ["a"], LIGHT)

    solid, outlined, waits = figure.data
    assert (list(solid.customdata), list(outlined.customdata)) == ([7], [8])
    assert outlined.marker.color == LIGHT.background
    assert solid.hovertext[0] == "&lt;b&gt;x&lt;/b&gt;"
    assert len(waits.x) == 6


def test_the_name_of_a_lane_stands_above_its_bars_from_the_left_edge_on() -> None:
    name = "bf16 · on · dtype-aware · kv_only · C=80"

    label, *_ = run_gantt([gantt_bar(7, colour="#000000")], [name], LIGHT).layout.annotations

    assert (label.text, label.x, label.xref, label.xanchor) == (name, 0, "paper", "left")
    assert label.yshift > 0


def test_a_thousand_runs_are_few_traces_and_no_words() -> None:
    bars = [gantt_bar(number, colour="#000000") for number in range(1000)]

    figure = run_gantt(bars, ["a"], LIGHT)

    assert len(figure.data) == 2
    assert len(figure.data[0].customdata) == 1000
    assert len(figure.layout.annotations) == 1


def test_outcomes_are_stacked_with_corrupt_at_the_bottom() -> None:
    figure = block_bars([BlockBar("block 1 · r-1", 12, 66, 2)], LIGHT)

    assert [(trace.name, trace.y[0]) for trace in figure.data] == [
        ("corrupt", 12),
        ("clean", 66),
        ("silent", 2),
    ]


def test_a_class_that_never_occurred_is_no_bar() -> None:
    assert len(block_bars([BlockBar("r-1", 0, 80, 0)], LIGHT).data) == 1


def test_waits_end_at_all_sessions_and_say_their_number() -> None:
    waits = [number / 100 for number in range(5000)]

    figure = latency_steps([WaitedLine("this arm", waits)], LIGHT)

    assert figure.data[0].y[-1] == 100
    assert len(figure.data[0].x) < 600
    assert "n = 5000" in figure.layout.annotations[0].text


def test_load_points_carry_their_interval() -> None:
    points = [
        DosePoint(1, 0.0, Interval(0.0, 0.04), "0/90  ≤ 4.1 %", False),
        DosePoint(80, 0.358, Interval(0.3, 0.42), "86/240  35.8 %", True),
    ]

    figure = dose_line(points, LIGHT)

    assert list(figure.data[1].y) == [0.0, 35.8]
    assert round(figure.data[1].error_y.array[1], 3) == 6.2
    assert list(figure.data[1].marker.color) == [LIGHT.clean, LIGHT.corrupt]


LINES = pd.DataFrame(
    {"series": ["in flight (client)"] * 2, "seconds": [-3.0, 60.0], "value": [80.0, 0.0]}
)
DENSITY = pd.DataFrame(
    {"seconds": [10.0, 10.0], "event_class": ["wedge", "info"], "lines": [57, 3]}
)


def test_one_clock_has_lines_victims_and_log_density_on_one_axis() -> None:
    figure = clock_strip(
        LINES,
        density=DENSITY,
        bin_s=2.0,
        victims_at_s=[40.0, 41.0],
        corrupt_at_s=[],
        bands=[Band(20.0, 60.0, "wedge, 40 s")],
        marks=[Mark(60.0, "done")],
        palette=LIGHT,
    )

    axes = [trace.yaxis for trace in figure.data]
    assert axes == [None, "y2", "y2", "y3"]
    assert figure.data[1].y[0] == 57
    assert figure.layout.shapes[0].yref == "paper"


def test_the_clock_begins_at_the_first_request() -> None:
    figure = clock_strip(
        LINES,
        density=DENSITY.head(0),
        bin_s=2.0,
        victims_at_s=[],
        corrupt_at_s=[],
        bands=[],
        marks=[],
        palette=LIGHT,
    )

    assert figure.layout.xaxis.range[0] == 0


def test_no_two_lines_look_alike() -> None:
    names = [
        "in flight (client)",
        "running · prefill",
        "running · decode",
        *(f"queue {number}" for number in range(12)),
    ]

    styles = line_styles(names, LIGHT)

    assert len(set(styles.values())) == len(names)
    assert styles["running · prefill"][0] == styles["running · decode"][0] == LIGHT.clean
