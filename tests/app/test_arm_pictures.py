"""Cells become rows of a forest, bars on the clock, and points over concurrency, nothing lost."""

from app.arm_pictures import block_bars_of, dose_points, forest_rows, gantt_bars
from app.cell_reading import read_cells
from app.palette import LIGHT
from db.vocabulary import Outcome, RunFlag, RunState
from tests.app.values import CORRUPT, arm_facts, run_counts

MOSTLY_SILENT = {Outcome.LEAK: 5, Outcome.ERROR: 75}
SECOND_US = 1_000_000


def test_a_row_says_count_rate_silence_and_that_a_path_was_not_used() -> None:
    run = run_counts(1, counts=MOSTLY_SILENT, flags=[RunFlag.NOT_EXERCISED])

    (row,) = forest_rows(read_cells([arm_facts(1, is_baseline=True)], [run], CORRUPT))

    assert row.name == "bf16 · on · C=80 (baseline)"
    assert row.words.startswith("5/80")
    assert row.note == "75 silent (93.8\u2009%) · not exercised"
    assert row.open_to == 1.0


def test_an_arm_without_a_finished_run_has_no_interval() -> None:
    (row,) = forest_rows(read_cells([arm_facts(1)], [], CORRUPT))

    assert row.interval is None
    assert row.words == "no finished run"


def test_runs_that_do_not_count_are_bars_without_a_colour() -> None:
    runs = [
        run_counts(1, counts={Outcome.LEAK: 30, Outcome.DONE: 50}, started_at_us=1, ended_at_us=9),
        run_counts(2, state=RunState.FAILED, started_at_us=10, ended_at_us=20),
        run_counts(3, state=RunState.PLANNED),
    ]

    bars = gantt_bars(read_cells([arm_facts(1)], runs, CORRUPT), CORRUPT, LIGHT, now_us=99)

    assert [(bar.run_id, bar.colour, bar.words) for bar in bars] == [
        (1, LIGHT.rate_steps[4], "30"),
        (2, None, "failed"),
    ]


def test_of_many_runs_the_last_begun_are_drawn() -> None:
    runs = [run_counts(number, started_at_us=100 - number) for number in (1, 2, 3)]
    cells = read_cells([arm_facts(1)], runs, CORRUPT)

    bars = gantt_bars(cells, CORRUPT, LIGHT, now_us=200, at_most=2)

    assert [bar.run_id for bar in bars] == [2, 1]


def test_a_run_in_work_reaches_to_now() -> None:
    run = run_counts(
        1, state=RunState.DRIVING, started_at_us=SECOND_US, driving_at_us=2 * SECOND_US
    )

    (bar,) = gantt_bars(
        read_cells([arm_facts(1)], [run], CORRUPT), CORRUPT, LIGHT, now_us=9 * SECOND_US
    )

    assert (bar.driving_us, bar.ended_us) == (2 * SECOND_US, 9 * SECOND_US)


def test_outcomes_stand_in_the_order_of_the_clock() -> None:
    runs = [
        run_counts(7, block=2, counts={Outcome.DONE: 80}, driving_at_us=50),
        run_counts(9, block=1, counts=MOSTLY_SILENT, driving_at_us=10),
    ]
    (cell,) = read_cells([arm_facts(1)], runs, CORRUPT)

    bars = block_bars_of(cell, CORRUPT)

    assert [bar.label for bar in bars] == ["block 1 · r-9", "block 2 · r-7"]
    assert (bars[0].corrupt, bars[0].clean, bars[0].silent) == (5, 0, 75)


def test_points_are_arms_that_differ_in_the_concurrency_alone() -> None:
    arms = [
        arm_facts(1, concurrency=80),
        arm_facts(2, concurrency=1),
        arm_facts(3, levels={"index_keys": "fp8", "hicache": "on", "concurrency": 80}),
    ]
    runs = [run_counts(n, arm_id=n, counts={Outcome.DONE: 80}) for n in (1, 2, 3)]
    cells = read_cells(arms, runs, CORRUPT)

    assert [point.concurrency for point in dose_points(cells[0], cells)] == [1, 80]
    assert dose_points(cells[2], cells) == []
