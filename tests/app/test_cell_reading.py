"""A cell counts finished runs only and never more than its evidence carries."""

import pytest

from app.cell_reading import left_out_words, read_cells, worst_cell
from db.vocabulary import Outcome, RunState
from tests.app.values import CORRUPT, arm_facts, run_counts


def test_only_finished_runs_count() -> None:
    runs = [
        run_counts(1, counts={Outcome.LEAK: 1, Outcome.DONE: 79}),
        run_counts(2, state=RunState.STOPPED, counts={Outcome.LEAK: 50}),
        run_counts(3, state=RunState.INVALID, counts={Outcome.LEAK: 80}),
        run_counts(4, state=RunState.DRIVING, counts={Outcome.LEAK: 7}),
    ]

    (cell,) = read_cells([arm_facts()], runs, CORRUPT)

    assert (cell.counts.corrupt, cell.counts.all) == (1, 80)
    assert [run.id for run in cell.left_out] == [2, 3]
    assert cell.active is not None
    assert cell.active.id == 4


def test_the_campaigns_own_list_says_what_is_corrupt() -> None:
    runs = [run_counts(counts={Outcome.NO_TOOL: 4, Outcome.LEAK: 1, Outcome.DONE: 75})]

    (cell,) = read_cells([arm_facts()], runs, ["leak"])

    assert cell.counts.corrupt == 1
    assert cell.counts.gave_evidence == 80


def test_our_own_faults_are_in_no_denominator() -> None:
    runs = [run_counts(counts={Outcome.HARNESS_ERROR: 5, Outcome.DONE: 75})]

    (cell,) = read_cells([arm_facts()], runs, CORRUPT)

    assert cell.counts.all == 75


def test_fewer_than_59_sessions_with_evidence_are_too_few() -> None:
    enough = [run_counts(counts={Outcome.DONE: 59, Outcome.ERROR: 21})]
    too_few = [run_counts(counts={Outcome.DONE: 58, Outcome.ERROR: 22})]

    assert not read_cells([arm_facts()], enough, CORRUPT)[0].has_too_few
    assert read_cells([arm_facts()], too_few, CORRUPT)[0].has_too_few


def test_silent_sessions_raise_the_upper_limit_only() -> None:
    runs = [run_counts(counts={Outcome.LEAK: 5, Outcome.ERROR: 75})]

    (cell,) = read_cells([arm_facts()], runs, CORRUPT)

    assert cell.rate == pytest.approx(0.0625)
    assert cell.high_limit == 1.0
    assert cell.silent_share == pytest.approx(75 / 80)


def test_the_worst_cell_has_the_highest_rate_of_those_with_a_finished_run() -> None:
    arms = [arm_facts(1), arm_facts(2), arm_facts(3)]
    runs = [
        run_counts(1, arm_id=1, counts={Outcome.LEAK: 1, Outcome.DONE: 79}),
        run_counts(2, arm_id=2, counts={Outcome.LEAK: 9, Outcome.DONE: 71}),
        run_counts(3, arm_id=3, state=RunState.STOPPED, counts={Outcome.LEAK: 80}),
    ]

    worst = worst_cell(read_cells(arms, runs, CORRUPT))

    assert worst is not None
    assert worst.arm.id == 2


def test_no_finished_run_means_no_worst_cell() -> None:
    assert worst_cell(read_cells([arm_facts()], [], CORRUPT)) is None


def test_left_out_runs_are_counted_by_state() -> None:
    runs = [
        run_counts(1, state=RunState.STOPPED),
        run_counts(2, state=RunState.STOPPED),
        run_counts(3, state=RunState.INVALID),
        run_counts(4),
    ]

    assert left_out_words(runs) == "2 runs stopped, 1 run invalid"
    assert left_out_words([run_counts(4)]) == ""


def test_wedged_is_a_cell_with_a_span_or_with_requests() -> None:
    quiet = read_cells([arm_facts()], [run_counts(wedges=0)], CORRUPT)[0]
    spans = read_cells([arm_facts()], [run_counts(wedges=1)], CORRUPT)[0]
    requests = read_cells([arm_facts()], [run_counts(wedge_requests=3)], CORRUPT)[0]

    assert [cell.is_wedged for cell in (quiet, spans, requests)] == [False, True, True]
