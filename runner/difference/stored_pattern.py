"""Reads from a store where the dialogues of two arms part first, and what their partings share."""

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from db.reads.runs import RunCounts, fingerprints
from db.reads.transcripts import MOST_PAIRS, paired_turns, pairs_of_runs
from db.vocabulary import RunState
from runner.difference.divergence_pattern import (
    DivergencePattern,
    PartedPair,
    find_pattern,
    part_pairs,
)
from runner.difference.page_size import page_tokens


def pattern_of_runs(
    connection: Connection,
    a_runs: Sequence[RunCounts],
    b_runs: Sequence[RunCounts],
    *,
    again: Sequence[RunCounts],
    corrupt: Sequence[str],
    most_pairs: int = MOST_PAIRS,
) -> DivergencePattern:
    """Each run of A is paired with the run of B in its block, else with the first of B.

    Of each two runs at most `most_pairs` dialogues are looked at, and only runs that are done, if
    any is. `again` are all runs of the arm of B: two of them show how often answers part by
    chance.
    """
    ours, theirs = _counting(a_runs), _counting(b_runs)
    parted: list[PartedPair] = []
    is_cut = False
    for run in ours if theirs else ():
        twin = next((each for each in theirs if each.block == run.block), theirs[0])
        found = _parted(connection, run.id, twin.id, corrupt, most_pairs + 1)
        is_cut = is_cut or len(found) > most_pairs
        parted += found[:most_pairs]
    chance = None
    other = [run for run in _counting(again) if theirs and run.id != theirs[0].id]
    if other:
        pairs = _parted(connection, other[0].id, theirs[0].id, corrupt, most_pairs)
        chance = sum(each.divergence is not None for each in pairs), len(pairs)
    launches = {run.launch_id for run in ours if run.launch_id is not None}
    reports = [said.facts for each in launches for said in fingerprints(connection, each)]
    pattern = find_pattern(parted, page_tokens=page_tokens(reports), by_chance=chance)
    return replace(pattern, is_cut=is_cut)


def _counting(runs: Sequence[RunCounts]) -> list[RunCounts]:
    done = [run for run in runs if run.run_state is RunState.DONE]
    return done or [run for run in runs if run.n_ended]


def _parted(
    connection: Connection, a: int, b: int, corrupt: Sequence[str], most: int
) -> list[PartedPair]:
    pairs = pairs_of_runs(connection, a, b, limit=most)
    return part_pairs(a, paired_turns(connection, pairs), corrupt=corrupt)
