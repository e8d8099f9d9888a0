"""Sessions of a run, one session with its turns, its neighbours and its twins."""

import pytest
from sqlalchemy import Connection

from db.reads import sessions
from db.reads.sessions import SessionFacts
from db.store import Store
from db.tables.runs import RunRow
from db.vocabulary import Outcome, RunState
from tests.db.factories import stored_campaign, stored_id, stored_run, stored_session

MIXED = (Outcome.DONE, Outcome.LEAK, Outcome.ERROR, Outcome.LEAK, Outcome.DONE)


@pytest.fixture
def run(store: Store) -> RunRow:
    """Five sessions: done, leak, error, leak, done."""
    row = stored_run(store, stored_campaign(store).arms[0])
    for index, outcome in enumerate(MIXED):
        stored_session(store, row, outcome, index=index)
    return row


def test_sessions_come_by_index(run: RunRow, connection: Connection) -> None:
    found = sessions.sessions(connection, stored_id(run))

    assert [session.session_index for session in found] == [0, 1, 2, 3, 4]


def test_only_the_outcomes_named_are_listed(run: RunRow, connection: Connection) -> None:
    found = sessions.sessions(connection, stored_id(run), outcomes=["leak", "error"])

    assert [session.session_index for session in found] == [1, 2, 3]


def test_a_page_begins_where_the_one_before_ended(run: RunRow, connection: Connection) -> None:
    found = sessions.sessions(connection, stored_id(run), limit=2, offset=2)

    assert [session.session_index for session in found] == [2, 3]


def test_turns_come_in_order_with_what_was_due(run: RunRow, connection: Connection) -> None:
    found = sessions.turns(connection, _at(connection, run, 0).id)

    assert [turn.turn_index for turn in found] == [0, 1]
    assert found[0].due["name"] == "check_weather"


def test_reasons_are_counted_for_silent_sessions_only(run: RunRow, connection: Connection) -> None:
    assert sessions.reason_counts(connection, [stored_id(run)]) == {"stalled": 1}


def test_twins_are_the_same_dialogue_in_finished_runs(
    store: Store, run: RunRow, connection: Connection
) -> None:
    stored = stored_campaign(store, name="other")
    here = stored_run(store, stored.arms[0])
    there = stored_run(store, stored.arms[1])
    stopped = stored_run(store, stored.arms[2], state=RunState.STOPPED)
    for row in (here, there, stopped):
        stored_session(store, row, Outcome.DONE, index=7)

    found = sessions.twins(connection, stored_id(stored.campaign), 7)

    assert [twin.run_id for twin in found] == [here.id, there.id]


def test_pairs_are_the_dialogues_that_both_runs_played(
    store: Store, run: RunRow, connection: Connection
) -> None:
    stored = stored_campaign(store, name="other")
    other = stored_run(store, stored.arms[0])
    stored_session(store, other, Outcome.DONE, index=1)
    stored_session(store, other, Outcome.DONE, index=2, dialogue_key="another dialogue")
    stored_session(store, other, Outcome.DONE, index=99)

    pairs = sessions.paired_outcomes(connection, stored_id(run), stored_id(other))

    assert pairs["session_index"].tolist() == [1]
    assert pairs["a_outcome"].tolist() == ["leak"]
    assert pairs["b_outcome"].tolist() == ["done"]


def test_spans_of_a_run_without_sessions_are_an_empty_frame(connection: Connection) -> None:
    spans = sessions.session_spans(connection, 77)

    assert spans.empty
    assert list(spans) == ["id", "session_index", "outcome", "started_at_us", "ended_at_us"]


def test_an_unknown_session_is_none(connection: Connection) -> None:
    assert sessions.session(connection, 77) is None


def _at(connection: Connection, run: RunRow, index: int) -> SessionFacts:
    return sessions.sessions(connection, stored_id(run))[index]


def test_dialogues_that_fail_in_most_runs_come_first(store: Store, connection: Connection) -> None:
    stored = stored_campaign(store)
    for block, key in enumerate(("d-rare", "d-often", "d-often", "d-often")):
        row = stored_run(store, stored.arms[0], block=block)
        stored_session(store, row, Outcome.LEAK, dialogue_key=key)
    run_ids = [1, 2, 3, 4]

    found = sessions.failing_dialogues(connection, run_ids, outcomes=["leak"])

    assert [(each.dialogue_key, each.corrupt) for each in found] == [("d-often", 3), ("d-rare", 1)]
    assert found[1].session_id == 1


@pytest.fixture
def waits(store: Store) -> RunRow:
    """Ten sessions with 1 s to 10 s to the first token, and one without any."""
    row = stored_run(store, stored_campaign(store).arms[0])
    for index in range(10):
        stored_session(store, row, index=index, first_token_s=10.0 - index)
    stored_session(store, row, Outcome.ERROR, index=10, first_token_s=None)
    return row


def test_waits_come_shortest_first_and_leave_out_who_got_nothing(
    waits: RunRow, connection: Connection
) -> None:
    found = sessions.first_token_waits(connection, [stored_id(waits)])

    assert found == [float(second) for second in range(1, 11)]


def test_of_many_waits_every_so_manyth_is_kept_and_the_longest(
    waits: RunRow, connection: Connection
) -> None:
    found = sessions.first_token_waits(connection, [stored_id(waits)], at_most=4)

    assert found == [1.0, 4.0, 7.0, 10.0]


@pytest.mark.parametrize(("share", "seconds"), [(0.5, 5.0), (0.99, 10.0), (0.1, 1.0), (0.0, 1.0)])
def test_a_quantile_is_a_wait_that_was_measured(
    waits: RunRow, connection: Connection, share: float, seconds: float
) -> None:
    found = sessions.first_token_quantile(connection, [stored_id(waits)], share=share)

    assert found == (seconds, 10)


def test_without_first_tokens_there_is_no_quantile(store: Store, connection: Connection) -> None:
    row = stored_run(store, stored_campaign(store).arms[0])

    assert sessions.first_token_quantile(connection, [stored_id(row)], share=0.99) is None
