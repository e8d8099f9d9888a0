"""What pages read while runs are open: sentences that the engine wrote, and no others."""

import asyncio

import pytest

from db.campaigns import note_progress
from db.errors import RowMissingError
from db.reads.live_evidence import evidence_so_far, open_runs
from db.recorder import EndedSession, Recorder
from db.store import Store
from db.tables.runs import RunRow
from db.vocabulary import Outcome, RunState
from tests.db.factories import stored_campaign, stored_id, stored_run
from tests.db.unstored_rows import session_row


def end_sessions(store: Store, run: RunRow, *said: str | None) -> None:
    async def end() -> None:
        for index, sentence in enumerate(said):
            row = session_row(stored_id(run), Outcome.DONE, index=index)
            await recorder.session_ended(EndedSession(session=row, progress_said=sentence))

    with Recorder(store) as recorder:
        asyncio.run(end())


def test_an_open_run_bears_the_sentence_of_its_last_session(store: Store) -> None:
    stored = stored_campaign(store)
    run = stored_run(store, stored.arms[0], state=RunState.DRIVING)
    stored_run(store, stored.arms[1], state=RunState.DONE, progress_said="of a run that has ended")

    end_sessions(store, run, "Progress: 1 of 80.", "Progress: 2 of 80.", None)

    with store.session() as session:
        (found,) = open_runs(session.connection(), [stored_id(stored.campaign)])
    assert (found.id, found.state, found.n_ended) == (stored_id(run), "driving", 3)
    assert found.progress_said == "Progress: 2 of 80."


def test_a_hypothesis_bears_what_its_finished_runs_say(store: Store) -> None:
    stored = stored_campaign(store)
    hypothesis_id = stored_id(stored.hypotheses[0])

    with store.session() as session:
        (before,) = evidence_so_far(session.connection(), [stored_id(stored.campaign)])
    note_progress(store, hypothesis_id, "After 1 run: e-value 3 of 20.")

    with store.session() as session:
        (after,) = evidence_so_far(session.connection(), [stored_id(stored.campaign)])
    assert before.progress_said is None
    assert (after.slug, after.progress_said) == ("host-pool", "After 1 run: e-value 3 of 20.")
    with pytest.raises(RowMissingError, match="no hypothesis 99"):
        note_progress(store, 99, "of nothing")
