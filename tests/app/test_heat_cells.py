"""Cells lie where arm and concurrency say, and look no stronger than their evidence."""

from app.cell_reading import read_cells
from app.figures.heat_map import CellView, Fill
from app.heat_cells import lay_out, row_name, summary_sentence, table_rows
from app.links import Metric
from db.vocabulary import Outcome, RunState
from tests.app.values import CORRUPT, arm_facts, run_counts

ARMS = [
    arm_facts(1, concurrency=1, name="bf16 · on · C=1", sessions_per_run=20),
    arm_facts(2, concurrency=80, name="bf16 · on · C=80", is_baseline=True),
    arm_facts(
        3,
        concurrency=80,
        name="fp8 · on · C=80",
        levels={"index_keys": "fp8", "hicache": "on", "concurrency": 80},
    ),
]


def cells(counts: dict[Outcome, int], metric: Metric = Metric.CORRUPT, **columns: int) -> CellView:
    readings = read_cells([ARMS[1]], [run_counts(arm_id=2, counts=counts, **columns)], CORRUPT)
    return lay_out(readings, metric).cells[0]


def test_rows_are_levels_and_columns_are_concurrencies() -> None:
    laid = lay_out(read_cells(ARMS, [], CORRUPT), Metric.CORRUPT)

    assert [(cell.arm_id, cell.row, cell.column) for cell in laid.cells] == [
        (1, 0, 0),
        (2, 0, 1),
        (3, 1, 1),
    ]
    assert [row.title for row in laid.rows] == ["bf16", "fp8"]
    assert [column.title for column in laid.columns] == ["C = 1", "C = 80"]
    assert laid.columns[0].note == "20 sessions a run"
    assert laid.rows[0].note == "baseline"


def test_only_factors_that_vary_are_named_in_the_corner() -> None:
    assert lay_out(read_cells(ARMS, [], CORRUPT), Metric.CORRUPT).corner == "index_keys"


def test_the_name_of_a_row_lacks_the_concurrency() -> None:
    assert row_name(ARMS[0]) == "bf16 · on"
    assert row_name(arm_facts(name="C=80")) == "C=80"


def test_enough_evidence_is_painted_plain() -> None:
    cell = cells({Outcome.LEAK: 12, Outcome.DONE: 68})

    assert cell.fill is Fill.RATE
    assert (cell.headline, cell.detail) == ("12/80", "15.0\u2009% [8.8–24.4]")
    assert cell.low_step == 3


def test_none_seen_in_too_few_is_hatched_grey_and_never_zero_percent() -> None:
    cell = cells({Outcome.DONE: 20})

    assert cell.fill is Fill.FEW
    assert cell.detail == "≤\u200916.1\u2009%"


def test_corrupt_among_mostly_silent_wears_the_colours_of_both_limits() -> None:
    cell = cells({Outcome.LEAK: 5, Outcome.ERROR: 75}, wedge_requests=75)

    assert cell.fill is Fill.LIMITS
    assert (cell.low_step, cell.high_step) == (2, 5)
    assert cell.silent == "75 silent (93.8\u2009%) · wedged"


def test_a_cell_without_a_finished_run_says_why() -> None:
    stopped = run_counts(1, arm_id=1, state=RunState.INVALID, reason="client saturated")
    driving = run_counts(2, arm_id=2, state=RunState.DRIVING, n_ended=52)
    planned = run_counts(3, arm_id=3, state=RunState.PLANNED)

    laid = lay_out(read_cells(ARMS, [stopped, driving, planned], CORRUPT), Metric.CORRUPT)

    assert [(cell.headline, cell.detail, cell.fill) for cell in laid.cells] == [
        ("invalid", "client saturated", Fill.ABSENT),
        ("driving", "52/80 ended", Fill.RUNNING),
        ("planned", "", Fill.ABSENT),
    ]


def test_the_silent_metric_shows_the_silent_share() -> None:
    cell = cells({Outcome.DONE: 60, Outcome.ERROR: 20}, Metric.SILENT)

    assert (cell.headline, cell.detail) == ("20/80", "25.0\u2009% silent")
    assert cell.low_step == 3


def test_the_wedge_metric_shows_requests_and_lines() -> None:
    cell = cells({Outcome.DONE: 80}, Metric.WEDGES, wedge_requests=57, wedge_lines=168)

    assert (cell.headline, cell.note) == ("57", "168 lines")


def test_the_table_says_what_the_picture_shows() -> None:
    runs = [run_counts(1, arm_id=2, counts={Outcome.LEAK: 12, Outcome.DONE: 68})]

    rows = table_rows(read_cells(ARMS, runs, CORRUPT))

    assert rows[1]["corrupt"] == "12/80"
    assert rows[1]["concurrency"] == "80"
    assert rows[0]["corrupt"] == "not run"


def test_the_summary_counts_every_cell_once() -> None:
    runs = [
        run_counts(1, arm_id=1, counts={Outcome.DONE: 20}),
        run_counts(2, arm_id=2, counts={Outcome.LEAK: 12, Outcome.DONE: 68}),
    ]

    assert summary_sentence(read_cells(ARMS, runs, CORRUPT)) == (
        "3 cells: 1 with corrupt sessions, 1 with none seen (1 of them too small to say much), "
        "1 without a finished run."
    )


def test_silent_cells_are_not_among_those_in_which_nothing_was_seen() -> None:
    runs = [
        run_counts(1, arm_id=1, counts={Outcome.ERROR: 80}),
        run_counts(2, arm_id=2, counts={Outcome.HARNESS_ERROR: 20}),
    ]

    readings = read_cells(ARMS, runs, CORRUPT)

    assert summary_sentence(readings) == (
        "3 cells: 0 with corrupt sessions, 0 with none seen, "
        "2 in which no session gave evidence, 1 without a finished run."
    )
    ours = lay_out(readings, Metric.CORRUPT).cells[1]
    assert (ours.headline, ours.detail) == ("no evidence", "20 harness errors")
