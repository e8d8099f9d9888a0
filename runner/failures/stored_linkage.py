"""Reads from a store whether the wedges and the corruption of a campaign come together in time."""

from collections.abc import Sequence

from sqlalchemy import Connection

from db.reads.failures import log_moments, wedge_moments
from db.reads.runs import RunCounts
from db.reads.transcripts import turn_moments
from db.vocabulary import RunState
from runner.evidence.linkage_words import linkage_lines
from runner.failures.disturbances import DISTURBING_CLASSES, linkage_of


def stored_linkage_lines(
    connection: Connection, runs: Sequence[RunCounts], *, corrupt: Sequence[str]
) -> list[str]:
    """In sentences; none where nothing of the runs that are done went corrupt, or nothing stood
    still, and then no turn is read.
    """
    done = [run for run in runs if run.run_state is RunState.DONE]
    if not any(run.counts[outcome] for run in done for outcome in corrupt):
        return []
    ids = [run.id for run in done]
    events = log_moments(connection, ids, classes=DISTURBING_CLASSES)
    wedges = wedge_moments(connection, ids)
    if not events and not wedges:
        return []
    turns = turn_moments(connection, ids)
    return linkage_lines(linkage_of(turns, events, wedges, corrupt=corrupt))
