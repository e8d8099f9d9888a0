"""The figures of a report in plain characters, for forms that hold no picture."""

from collections.abc import Sequence
from math import ceil

from db.vocabulary import OutcomeClass
from runner.report.document import (
    Figure,
    OutcomeBar,
    OutcomeFigure,
    RateFigure,
    RateMark,
    TurnBar,
    TurnFigure,
)
from runner.report.visible_text import one_line

WIDTH = 40
_SIGNS = {
    OutcomeClass.CORRUPT: "#",
    OutcomeClass.CLEAN: ".",
    OutcomeClass.SILENT: "?",
    OutcomeClass.OURS: "x",
}


def text_figure(figure: Figure) -> str:
    """Lines of which none is longer than its label, `WIDTH` columns and what it says."""
    match figure:
        case RateFigure():
            return _rates(figure.marks)
        case OutcomeFigure():
            return _outcomes(figure.bars)
        case TurnFigure():
            return _turns(figure.bars)


def rate_scale(marks: Sequence[RateMark]) -> float:
    """Where the axis ends: the next tenth above all that is drawn, at most 1."""
    drawn = [mark.high for mark in marks if mark.high is not None]
    drawn += [rate for mark in marks for rate in mark.of_runs]
    return min(1.0, max(1, ceil(max(drawn, default=0.1) * 10 - 1e-9)) / 10)


def _rates(marks: Sequence[RateMark]) -> str:
    end = rate_scale(marks)
    rows = [(mark.label.text, _rate_line(mark, end), mark.said) for mark in marks]
    return _scaled(rows, end=f"{end:.0%}", key="o rate, --- its interval, : single runs")


def _rate_line(mark: RateMark, end: float) -> str:
    cells = [" "] * WIDTH

    def place(rate: float) -> int:
        return min(WIDTH - 1, int(rate / end * WIDTH))

    if mark.low is not None and mark.high is not None:
        for column in range(place(mark.low), place(mark.high) + 1):
            cells[column] = "-"
    for rate in mark.of_runs:
        cells[place(rate)] = ":"
    if mark.rate is not None:
        cells[place(mark.rate)] = "o"
    return "".join(cells)


def _outcomes(bars: Sequence[OutcomeBar]) -> str:
    most = max((sum(number for _, number in bar.counts) for bar in bars), default=0)
    labels = _padded([bar.label.text for bar in bars])
    lines = [
        f"{label} |{_outcome_line(bar, most).ljust(WIDTH)}|"
        for label, bar in zip(labels, bars, strict=True)
    ]
    key = ", ".join(f"{sign} {name}" for name, sign in _SIGNS.items())
    return "\n".join([*lines, f"{' ' * len(labels[0]) if labels else ''} {key}"])


def _outcome_line(bar: OutcomeBar, most: int) -> str:
    """Each class that occurred has a column at least."""
    counts = [(kind, number) for kind, number in bar.counts if number]
    columns: dict[OutcomeClass, int] = {}
    before = 0
    for kind, number in counts:
        # From end to end, so that what is lost by rounding is not lost twice.
        ends = [round(place * WIDTH / most) for place in (before, before + number)]
        columns[kind] = max(1, ends[1] - ends[0])
        before += number
    while sum(columns.values()) > WIDTH:
        columns[max(columns, key=lambda kind: columns[kind])] -= 1
    return "".join(_SIGNS[kind] * columns[kind] for kind, _ in counts)


def _turns(bars: Sequence[TurnBar]) -> str:
    end_s = max((bar.ends_s for bar in bars), default=0.0) or 1.0
    rows = [(bar.label, _turn_line(bar, end_s), bar.said) for bar in bars]
    return _scaled(rows, end=f"{end_s:.1f} s", key=". waiting for the first token, = streaming")


def _turn_line(bar: TurnBar, end_s: float) -> str:
    cells = [" "] * WIDTH

    def place(at_s: float) -> int:
        return max(0, min(WIDTH - 1, int(at_s / end_s * WIDTH)))

    streams_from = bar.ends_s if bar.first_token_s is None else bar.first_token_s
    for column in range(place(bar.starts_s), place(bar.ends_s) + 1):
        cells[column] = "." if column < place(streams_from) else "="
    if bar.first_token_s is None:
        cells[place(bar.ends_s)] = "."
    return "".join(cells)


def _scaled(rows: Sequence[tuple[str, str, str]], *, end: str, key: str) -> str:
    """Label, line and what is said of it in each row; below, a scale from 0 to `end`."""
    labels = _padded([label for label, _, _ in rows])
    lines = [
        f"{label} |{line}| {one_line(said)}"
        for label, (_, line, said) in zip(labels, rows, strict=True)
    ]
    margin = " " * len(labels[0]) if labels else ""
    return "\n".join([*lines, f"{margin} 0{end.rjust(WIDTH)}", f"{margin} {key}"])


def _padded(labels: Sequence[str]) -> list[str]:
    shown = [one_line(label) for label in labels]
    width = max(map(len, shown), default=0)
    return [label.ljust(width) for label in shown]
