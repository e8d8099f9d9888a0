"""Bars and points of rates: limits where the evidence puts them."""

import pytest

from app.figures.outcome_bar import outcome_bar
from app.figures.rate_pairs import RatePoint, RateRow, rate_pairs
from app.palette import LIGHT
from runner.evidence.counts import counted
from runner.evidence.rates import Interval


def test_sessions_lie_side_by_side_and_add_up() -> None:
    figure = outcome_bar(counted({"leak": 5, "done": 15, "error": 60}), LIGHT)

    assert [(trace.base[0], trace.x[0]) for trace in figure.data] == [(0, 5), (5, 15), (20, 60)]


def test_a_class_without_sessions_has_no_bar() -> None:
    figure = outcome_bar(counted({"done": 80}), LIGHT)

    assert [trace.x[0] for trace in figure.data] == [80]


def test_the_limits_run_from_the_low_to_the_high_end() -> None:
    figure = outcome_bar(counted({"leak": 5, "error": 75}), LIGHT)

    line = figure.layout.shapes[0]
    assert line.x0 == pytest.approx(80 * 0.0270, abs=0.01)
    assert line.x1 == 80


def test_both_runs_of_a_measure_are_drawn_with_interval_and_words() -> None:
    point = RatePoint(0.15, Interval(0.088, 0.244), "12/80 · 15.0 %")
    figure = rate_pairs([RateRow("Corrupt", point, None, LIGHT.corrupt)], LIGHT)

    line, dot = figure.data
    assert list(line.x) == [pytest.approx(8.8), pytest.approx(24.4)]
    assert list(dot.x) == [pytest.approx(15.0)]
    texts = [note.text for note in figure.layout.annotations]
    assert texts == ["<b>Corrupt</b>", "A  12/80 · 15.0 %", "B  no session"]
