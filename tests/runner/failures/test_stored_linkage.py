"""Whether wedges and corruption of a stored campaign come together."""

from pathlib import Path

from db.reads.runs import runs
from db.store import Store
from db.vocabulary import Outcome
from runner.failures.stored_linkage import stored_linkage_lines
from tests.db.factories import (
    StoredCampaign,
    stored_campaign,
    stored_id,
    stored_log_events,
    stored_run,
    stored_session,
)
from tests.db.fresh_stores import fresh_store


def lines_of(store: Store, made: StoredCampaign) -> list[str]:
    with store.session() as session:
        connection = session.connection()
        found = runs(connection, [stored_id(made.campaign)])
        return stored_linkage_lines(connection, found, corrupt=[str(Outcome.LEAK)])


def test_nothing_is_said_until_there_is_corruption_and_a_wedge(tmp_path: Path) -> None:
    with fresh_store(tmp_path) as store:
        made = stored_campaign(store)
        calm = stored_run(store, made.arms[0])
        stored_session(store, calm, index=0)
        assert lines_of(store, made) == []

        failing = stored_run(store, made.arms[1])
        stored_session(store, failing, Outcome.LEAK, index=0, decisive_turn=0)
        assert lines_of(store, made) == []

        stored_log_events(store, calm, ["WaitingForInput"])
        first, second = lines_of(store, made)
        assert first.startswith("In 1 run without any wedge or abort, 1 session went corrupt")
        assert "cannot be asked: no run had both" in second


def test_runs_with_both_are_tested(tmp_path: Path) -> None:
    with fresh_store(tmp_path) as store:
        made = stored_campaign(store)
        run = stored_run(store, made.arms[0])
        stored_session(store, run, Outcome.LEAK, index=0, decisive_turn=0)
        stored_session(store, run, index=1)
        stored_log_events(store, run, ["WaitingForInput"])

        seen, meaning = lines_of(store, made)

        assert seen.startswith("In 1 run with both, 1 turn that went corrupt stood")
        assert "not shown, and not excluded" in meaning


def test_of_many_sessions_the_newest_runs_are_asked_and_it_is_said(tmp_path: Path) -> None:
    with fresh_store(tmp_path) as store:
        made = stored_campaign(store)
        for block in range(3):
            run = stored_run(store, made.arms[0], block=block)
            stored_session(store, run, Outcome.LEAK, index=0, decisive_turn=0)
            stored_session(store, run, index=1)
            stored_log_events(store, run, ["WaitingForInput"])
        with store.session() as session:
            connection = session.connection()
            found = runs(connection, [stored_id(made.campaign)])
            said, seen, _ = stored_linkage_lines(
                connection, found, corrupt=["leak"], at_most_sessions=5
            )

    assert said == "Asked of the last 2 of 3 finished runs."
    assert seen.startswith("In 2 runs with both")
