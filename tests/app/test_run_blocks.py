"""Runs of two arms meet in their blocks."""

from app.run_blocks import runs_by_block
from tests.app.values import run_counts


def test_runs_meet_in_their_block_and_a_missing_one_leaves_its_place_empty() -> None:
    a = [run_counts(1, block=2), run_counts(2, block=1)]
    b = [run_counts(3, block=2), run_counts(4, block=3)]

    pairs = runs_by_block(a, b)

    assert [[run and run.id for run in pair] for pair in pairs] == [[2, None], [1, 3], [None, 4]]


def test_without_runs_there_is_no_block() -> None:
    assert runs_by_block([], []) == []
