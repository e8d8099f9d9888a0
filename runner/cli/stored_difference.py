"""Reads from a store what two runs, or the runs of two arms, are laid side by side by."""

from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import Connection

from db.reads.campaigns import ArmFacts
from db.reads.runs import RunCounts, fingerprints, launch, launch_reports
from db.reads.sessions import TurnFacts, turns
from db.reads.transcripts import MOST_PAIRS, paired_turns, pairs_of_runs, response_of_turn
from db.vocabulary import RunState
from runner.difference.answer_tokens import answer_tokens
from runner.difference.configuration import ConfigSide
from runner.difference.divergence import Divergence, first_divergence, with_tokens
from runner.difference.divergence_pattern import (
    DivergencePattern,
    PartedPair,
    find_pattern,
    part_pairs,
)
from runner.difference.page_size import page_tokens
from runner.evidence.fingerprint_differences import fingerprint_differences


def config_side(connection: Connection, arm: ArmFacts, run: RunCounts | None) -> ConfigSide:
    """Of the launch of `run`; without one, the levels of the arm alone."""
    launch_id = None if run is None else run.launch_id
    if launch_id is None:
        return ConfigSide(arm, None, ())
    return ConfigSide(arm, launch(connection, launch_id), fingerprints(connection, launch_id))


def session_divergence(
    connection: Connection, a_id: int, b_id: int
) -> tuple[Divergence | None, Sequence[TurnFacts], Sequence[TurnFacts]]:
    """Where two sessions part, in tokens too where their answers carry them; and their turns."""
    first, second = turns(connection, a_id), turns(connection, b_id)
    found = first_divergence(first, second)
    if found is not None and found.a is not None and found.b is not None:
        answers = [response_of_turn(connection, side.turn_id) for side in (found.a, found.b)]
        tokens = [None if each is None else answer_tokens(each) for each in answers]
        found = with_tokens(found, tokens[0], tokens[1])
    return found, first, second


def pattern_of_runs(
    connection: Connection,
    a_runs: Sequence[RunCounts],
    b_runs: Sequence[RunCounts],
    *,
    again: Sequence[RunCounts],
    corrupt: Sequence[str],
) -> DivergencePattern:
    """Each run of A is paired with the run of B in its block, else with the first of B.

    Only runs that are done are looked at, if any is. `again` are all runs of the arm of B: two of
    them show how often answers part by chance.
    """
    ours, theirs = _counting(a_runs), _counting(b_runs)
    parted: list[PartedPair] = []
    is_cut = False
    for run in ours if theirs else ():
        twin = next((each for each in theirs if each.block == run.block), theirs[0])
        found = _parted(connection, run.id, twin.id, corrupt)
        is_cut = is_cut or len(found) == MOST_PAIRS
        parted += found
    chance = None
    other = [run for run in _counting(again) if theirs and run.id != theirs[0].id]
    if other:
        pairs = _parted(connection, other[0].id, theirs[0].id, corrupt)
        chance = sum(each.divergence is not None for each in pairs), len(pairs)
    launches = {run.launch_id for run in ours if run.launch_id is not None}
    reports = [said.facts for each in launches for said in fingerprints(connection, each)]
    pattern = find_pattern(parted, page_tokens=page_tokens(reports), by_chance=chance)
    return replace(pattern, is_cut=is_cut)


def fingerprints_apart(
    connection: Connection, a_runs: Sequence[RunCounts], b_runs: Sequence[RunCounts]
) -> tuple[str, ...]:
    """What servers said of themselves in the runs of one side and not in those of the other."""
    launches = [sorted({x.launch_id for x in runs if x.launch_id}) for runs in (a_runs, b_runs)]
    sides = [list(launch_reports(connection, ids).values()) for ids in launches]
    return fingerprint_differences(sides[0], sides[1], declared=frozenset())


def _counting(runs: Sequence[RunCounts]) -> list[RunCounts]:
    done = [run for run in runs if run.run_state is RunState.DONE]
    return done or [run for run in runs if run.n_ended]


def _parted(connection: Connection, a: int, b: int, corrupt: Sequence[str]) -> list[PartedPair]:
    pairs = pairs_of_runs(connection, a, b)
    return part_pairs(a, paired_turns(connection, pairs), corrupt=corrupt)
