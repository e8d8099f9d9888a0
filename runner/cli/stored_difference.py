"""Reads from a store by what two runs or sessions are laid side by side."""

from collections.abc import Sequence

from sqlalchemy import Connection

from db.reads.campaigns import ArmFacts
from db.reads.runs import RunCounts, fingerprints, launch, launch_reports
from db.reads.sessions import TurnFacts, turns
from db.reads.transcripts import response_of_turn
from runner.difference.answer_tokens import answer_tokens
from runner.difference.configuration import ConfigSide
from runner.difference.divergence import Divergence, first_divergence, with_tokens
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


def fingerprints_apart(
    connection: Connection, a_runs: Sequence[RunCounts], b_runs: Sequence[RunCounts]
) -> tuple[str, ...]:
    """What servers said of themselves in the runs of one side and not in those of the other."""
    launches = [sorted({x.launch_id for x in runs if x.launch_id}) for runs in (a_runs, b_runs)]
    sides = [list(launch_reports(connection, ids).values()) for ids in launches]
    return fingerprint_differences(sides[0], sides[1], declared=frozenset())
