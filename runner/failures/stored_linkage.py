"""Reads from a store whether the wedges and the corruption of a campaign come together in time.

For a page, which somebody waits for: of a large campaign it looks at the newest runs, and says so.
"""

from collections.abc import Sequence

from sqlalchemy import Connection

from db.reads.failures import log_moments, wedge_moments
from db.reads.runs import RunCounts, newest_runs
from db.reads.transcripts import turn_moments
from db.vocabulary import RunState
from runner.evidence.linkage_words import linkage_lines
from runner.evidence.number_words import counted_text
from runner.failures.disturbances import DISTURBING_CLASSES, linkage_of

MOST_SESSIONS = 10_000


def stored_linkage_lines(
    connection: Connection,
    runs: Sequence[RunCounts],
    *,
    corrupt: Sequence[str],
    at_most_sessions: int = MOST_SESSIONS,
) -> list[str]:
    """In sentences; none where nothing of the runs that are done went corrupt, or nothing stood
    still, and then no turn is read.
    """
    every = [run for run in runs if run.run_state is RunState.DONE]
    done = newest_runs(every, at_most_sessions=at_most_sessions)
    if not any(run.counts[outcome] for run in done for outcome in corrupt):
        return []
    ids = [run.id for run in done]
    events = log_moments(connection, ids, classes=DISTURBING_CLASSES)
    wedges = wedge_moments(connection, ids)
    if not events and not wedges:
        return []
    turns = turn_moments(connection, ids)
    lines = linkage_lines(linkage_of(turns, events, wedges, corrupt=corrupt))
    return [_of_the_newest(len(done), len(every)), *lines] if len(done) < len(every) else lines


def _of_the_newest(looked_at: int, runs: int) -> str:
    return f"Asked of the last {looked_at:,} of {counted_text(runs, 'finished run')}."
