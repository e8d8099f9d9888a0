"""Pairs of stored runs: block by block, and said where some were left out."""

from pathlib import Path

import pytest

from db.reads.runs import runs
from db.vocabulary import Outcome
from runner.difference.divergence_pattern import DivergencePattern
from runner.difference.stored_pattern import pattern_of_runs
from tests.db.factories import stored_campaign, stored_id, stored_run, stored_session
from tests.db.fresh_stores import fresh_store
from tests.db.unstored_rows import LEAKED_TURNS


def pattern(folder: Path, *, blocks: int, most_pairs: int) -> DivergencePattern:
    """Two dialogues a run; the first one is leaked in the arm of A, in each block."""
    with fresh_store(folder) as store:
        made = stored_campaign(store)
        for block in range(blocks):
            for arm, outcome in ((made.arms[0], Outcome.LEAK), (made.arms[2], Outcome.DONE)):
                run = stored_run(store, arm, block=block)
                turns = LEAKED_TURNS if outcome is Outcome.LEAK else None
                stored_session(store, run, outcome, index=0, turns=turns, decisive_turn=0)
                stored_session(store, run, index=1)
        with store.session() as session:
            connection = session.connection()
            every = runs(connection, [stored_id(made.campaign)])
            a, b = ([x for x in every if x.arm_id == made.arms[at].id] for at in (0, 2))
            return pattern_of_runs(
                connection, a, b, again=b, corrupt=["leak"], most_pairs=most_pairs
            )


def test_every_block_is_paired_and_two_runs_of_b_show_what_chance_does(tmp_path: Path) -> None:
    found = pattern(tmp_path, blocks=2, most_pairs=10)

    assert (found.pairs, found.agreed, found.corrupt_partings) == (4, 2, 2)
    assert found.by_chance == (0, 2)
    assert not found.is_cut


@pytest.mark.parametrize(("most_pairs", "pairs", "is_cut"), [(1, 1, True), (2, 2, False)])
def test_pairs_that_are_left_out_are_said_and_none_that_are_not(
    tmp_path: Path, most_pairs: int, pairs: int, is_cut: bool
) -> None:
    found = pattern(tmp_path, blocks=1, most_pairs=most_pairs)

    assert (found.pairs, found.is_cut) == (pairs, is_cut)
    assert found.by_chance is None
