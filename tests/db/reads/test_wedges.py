"""What a page of one run draws of its wedges, as values."""

from typing import Any

from sqlalchemy import Connection

from db.raw_bytes import raw_row
from db.reads.wedges import run_stillness, wedge_spans
from db.store import Store
from db.tables.observations import LogEventRow, WedgeRow
from db.tables.runs import RunRow
from db.vocabulary import Outcome, RawKind
from tests.db.factories import stored_campaign, stored_id, stored_run, stored_session
from tests.db.fresh_stores import SECOND_US, START_US

CONFIRMED_US = START_US + 15 * SECOND_US
EVIDENCE: dict[str, Any] = {
    "rule": "engine",
    "where": ["decode dp_rank=1"],
    "confirmed_by": "a canary request had no answer within 7 s",
    "confirmed_at_us": CONFIRMED_US,
    "open_requests": 12,
    "black_box": [
        {"kind": "wedge_metrics", "service": "decode", "size_bytes": 9, "said": "status 200"},
        {"kind": "wedge_loads", "service": "decode", "size_bytes": 0, "said": "status 404"},
    ],
    "end": "tokens were made again",
}
COHORT = {
    "requests": ["r1-s0-t1", "r1-s4-t0"],
    "session_indices": [0, 4],
    "released_at_us": START_US + 40 * SECOND_US,
    "spread_ms": 12.5,
    "longest_s": 31.0,
}


def _run(store: Store, **columns: Any) -> RunRow:
    return stored_run(store, stored_campaign(store).arms[0], **columns)


def _wedge(run: RunRow, *, start_s: int, end_s: int | None, **columns: Any) -> WedgeRow:
    return WedgeRow(
        run_id=stored_id(run),
        service="decode",
        started_at_us=START_US + start_s * SECOND_US,
        ended_at_us=None if end_s is None else START_US + end_s * SECOND_US,
        **columns,
    )


def _line(run: RunRow, at_s: int, event_class: str, **columns: Any) -> LogEventRow:
    return LogEventRow(
        run_id=stored_id(run),
        service="decode",
        at_us=START_US + at_s * SECOND_US,
        kind="server_abort",
        event_class=event_class,
        line="a line",
        **columns,
    )


def _stored(store: Store, *rows: Any) -> None:
    with store.write() as session:
        session.add_all(rows)


def test_a_span_has_its_seconds_and_the_sessions_that_it_caught(
    store: Store, connection: Connection
) -> None:
    run = _run(store)
    caught = stored_session(store, run, Outcome.ERROR, index=4)
    victims = [
        {"request_id": "r1-s4-t0", "session_index": 4, "silence_s": 19.5},
        {"request_id": "r1-s9-t0", "session_index": 9, "silence_s": 3.0},
        {"request_id": "r1-canary-0", "session_index": None, "silence_s": 5.0},
    ]
    _stored(store, _wedge(run, start_s=10, end_s=40, victims=victims, evidence=EVIDENCE))

    (span,) = wedge_spans(connection, stored_id(run))

    assert (span.seconds, span.rule, span.where) == (30.0, "engine", ("decode dp_rank=1",))
    assert (span.end, span.open_requests) == ("tokens were made again", 12)
    assert [(each.request_id, each.session_id) for each in span.victims] == [
        ("r1-s4-t0", stored_id(caught)),
        ("r1-s9-t0", None),  # not stored yet
        ("r1-canary-0", None),
    ]


def test_a_span_that_still_lasts_has_no_seconds(store: Store, connection: Connection) -> None:
    run = _run(store)
    _stored(store, _wedge(run, start_s=10, end_s=None))

    (span,) = wedge_spans(connection, stored_id(run))

    assert (span.seconds, span.ended_at_us, span.where) == (None, None, ("decode",))


def test_lines_within_a_span_are_counted_but_for_our_own_cancellations(
    store: Store, connection: Connection
) -> None:
    run = _run(store)
    _stored(
        store,
        _wedge(run, start_s=10, end_s=40, evidence=EVIDENCE),
        _line(run, 5, "wedge", request_ref="before"),
        _line(run, 12, "wedge", request_ref="a"),
        _line(run, 13, "abort", request_ref="a"),
        _line(run, 14, "crash"),
        _line(run, 15, "benign", request_ref="b"),
        _line(run, 16, "abort", request_ref="ours", is_own_cancellation=True),
        _line(run, 41, "wedge", request_ref="after"),
    )

    (span,) = wedge_spans(connection, stored_id(run))

    assert (span.log_lines, span.log_requests) == (3, 1)


def test_a_black_box_leads_to_its_bytes_and_says_what_it_could_not_get(
    store: Store, connection: Connection
) -> None:
    run = _run(store)
    page = raw_row(
        stored_id(run), RawKind.WEDGE_METRICS, b"some page", at_us=CONFIRMED_US, service="decode"
    )
    later = raw_row(
        stored_id(run), RawKind.WEDGE_METRICS, b"other", at_us=CONFIRMED_US + 1, service="decode"
    )
    _stored(store, later, page, _wedge(run, start_s=10, end_s=40, evidence=EVIDENCE))

    (span,) = wedge_spans(connection, stored_id(run))

    assert [(item.kind, item.said, item.raw_id) for item in span.box] == [
        ("wedge_metrics", "status 200", page.id),
        ("wedge_loads", "status 404", None),
    ]


def test_stillness_is_spans_cohorts_and_canaries_of_a_run(
    store: Store, connection: Connection
) -> None:
    canary = {"answered": False, "took_s": 7.0, "said": "no answer within 7 s"}
    run = _run(
        store,
        wedge_facts={
            "longest_pause_s": 14.0,
            "stalls": 5,
            "stall_cohorts": [COHORT],
            "canaries": [canary],
            "logs": {
                "decode": {"most_behind_bytes": 9, "unread_bytes": 2, "rows_left_out": 0},
            },
        },
    )
    _stored(
        store,
        _wedge(run, start_s=50, end_s=None, evidence=EVIDENCE),
        _wedge(run, start_s=10, end_s=40, evidence=EVIDENCE),
    )

    stillness = run_stillness(connection, stored_id(run))

    assert [span.seconds for span in stillness.spans] == [30.0, None]
    assert (stillness.seconds, stillness.stalls, stillness.longest_pause_s) == (30.0, 5, 14.0)
    assert stillness.cohorts[0].session_indices == (0, 4)
    assert stillness.canaries[0].took_s == 7.0
    assert (stillness.logs[0].service, stillness.logs[0].unread_bytes) == ("decode", 2)


def test_a_run_in_which_nothing_stood_still_and_an_unknown_one_are_empty(
    store: Store, connection: Connection
) -> None:
    for run_id in (stored_id(_run(store)), 99):
        stillness = run_stillness(connection, run_id)
        assert (stillness.spans, stillness.cohorts, stillness.canaries) == ((), (), ())
