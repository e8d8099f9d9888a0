"""Metric series, log events and recorded bytes of a run."""

import pytest
from sqlalchemy import Connection

from db.reads import observations, sessions
from db.store import Store
from db.tables.observations import LogEventRow
from db.tables.runs import RunRow
from db.vocabulary import Outcome, RawKind
from tests.db.factories import (
    stored_campaign,
    stored_id,
    stored_log_events,
    stored_run,
    stored_samples,
    stored_session,
)
from tests.db.fresh_stores import SECOND_US, START_US
from tests.db.unstored_rows import LEAKED_TEXT, TurnSpec


@pytest.fixture
def run(store: Store) -> RunRow:
    return stored_run(store, stored_campaign(store).arms[0])


def test_samples_come_with_their_time_and_name(
    store: Store, run: RunRow, connection: Connection
) -> None:
    stored_samples(store, run, [1.0, 2.0], name="running")
    stored_samples(store, run, [9.0], name="other")

    frame = observations.metric_samples(connection, stored_id(run), ["running"])

    assert frame["value"].tolist() == [1.0, 2.0]
    assert frame["at_us"].tolist() == [START_US, START_US + 2 * SECOND_US]
    assert observations.metric_names(connection, stored_id(run)) == ["other", "running"]


def test_the_outer_samples_are_those_of_the_first_and_the_last_scrape(
    store: Store, run: RunRow, connection: Connection
) -> None:
    stored_samples(store, run, [1, 40, 960], name="requests")
    stored_samples(store, run, [7], name="other")

    samples = observations.outer_samples(connection, stored_id(run), ["requests"])

    assert [(each.service, each.value) for each in samples] == [("server", 1), ("server", 960)]


def test_each_value_of_a_series_is_read_once(
    store: Store, run: RunRow, connection: Connection
) -> None:
    stored_samples(store, run, [1000.5, 1000.5, 1300.5], name="start")

    values = observations.values_of_series(connection, stored_id(run), "start")

    assert values == [("server", 1000.5), ("server", 1300.5)]


def test_the_newest_events_are_kept_and_shown_in_order(
    store: Store, run: RunRow, connection: Connection
) -> None:
    stored_log_events(store, run, ["one", "two", "three"])

    found = observations.log_events(connection, stored_id(run), limit=2)

    assert [event.line for event in found] == ["two", "three"]


def test_events_can_be_cut_to_a_span(store: Store, run: RunRow, connection: Connection) -> None:
    stored_log_events(store, run, ["one", "two", "three"])

    found = observations.log_events(
        connection,
        stored_id(run),
        from_us=START_US + SECOND_US,
        to_us=START_US + SECOND_US,
    )

    assert [event.line for event in found] == ["two"]


def test_lines_and_distinct_requests_are_counted_apart(
    store: Store, run: RunRow, connection: Connection
) -> None:
    with store.write() as session:
        for request in ("a", "a", "b"):
            session.add(
                LogEventRow(
                    run_id=stored_id(run),
                    service="server",
                    at_us=START_US,
                    kind="abort",
                    event_class="wedge",
                    request_ref=request,
                    line="x",
                )
            )

    frame = observations.log_event_counts(connection, stored_id(run))

    assert frame[["kind", "lines", "requests"]].values.tolist() == [["abort", 3, 2]]


def test_log_events_of_runs_are_added_up_and_a_request_is_one_of_its_run(
    store: Store, run: RunRow, connection: Connection
) -> None:
    other = stored_run(store, stored_campaign(store, name="other").arms[0])
    left_out = stored_run(store, stored_campaign(store, name="left-out").arms[0])
    for each, requests in ((run, "aab"), (other, "a"), (left_out, "a")):
        with store.write() as session:
            for request in requests:
                session.add(
                    LogEventRow(
                        run_id=stored_id(each),
                        service="server",
                        at_us=START_US,
                        kind="abort",
                        event_class="wedge",
                        request_ref=request,
                        line="x",
                    )
                )

    ids = [stored_id(run), stored_id(other)]
    frame = observations.log_event_counts_of_runs(connection, ids)

    assert frame[["kind", "lines", "requests"]].values.tolist() == [["abort", 4, 3]]


def test_recorded_bytes_come_back_as_they_were(
    store: Store, run: RunRow, connection: Connection
) -> None:
    body = LEAKED_TEXT.encode()
    turns = [TurnSpec(response=body)]
    session = stored_session(store, run, Outcome.DONE, turns=turns)
    (turn,) = sessions.turns(connection, stored_id(session))

    pieces = observations.raw_of_turns(connection, [turn.id])

    response = next(piece for piece in pieces if piece.kind == RawKind.RESPONSE)
    assert response.size_bytes == len(body)
    assert observations.raw_bytes(connection, response.id) == body
    assert observations.raw_reads(connection, response.id) == [[0.2, len(body)]]


def test_bytes_that_were_never_recorded_are_none(connection: Connection) -> None:
    assert observations.raw_bytes(connection, 5) is None
    assert observations.raw_reads(connection, 5) == []


def test_the_record_of_a_run_leaves_out_its_turns(
    store: Store, run: RunRow, connection: Connection
) -> None:
    stored_session(store, run, Outcome.DONE)

    assert observations.raw_of_run(connection, stored_id(run), [RawKind.SERVICE_LOG]) == []


def test_events_are_counted_by_bins_of_time(
    store: Store, run: RunRow, connection: Connection
) -> None:
    rows = stored_log_events(store, run, ["a", "b", "c"])

    found = observations.log_density(connection, stored_id(run), bin_us=3600 * 1_000_000)

    assert found["lines"].sum() == 3
    assert set(found["event_class"]) == {rows[0].event_class}
    assert (found["at_us"] % (3600 * 1_000_000) == 0).all()
