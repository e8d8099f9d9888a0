"""Log events of a run that pass a filter: the newest, in pieces, within a time cap."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Connection

from db.filters.keys import LOG_KEYS
from db.filters.parsing import parse_filter
from db.reads.log_search import LogSearch, LogWindow, search_log
from db.reads.time_cap import TimeCap
from db.store import Store
from tests.db.factories import stored_campaign, stored_log_events, stored_run
from tests.db.fresh_stores import SECOND_US, START_US, FakeClock, fresh_store

LINES = [f"rid={number:02} waits" for number in range(12)]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Run 1 has twelve events, one a second from the origin on; run 2 three in each of three."""
    with fresh_store(tmp_path_factory.mktemp("store")) as opened:
        arms = stored_campaign(opened).arms
        stored_log_events(opened, stored_run(opened, arms[0]), LINES)
        crowded = stored_run(opened, arms[1])
        for batch in range(3):
            stored_log_events(opened, crowded, [f"{batch}{number}" for number in range(3)])
        yield opened


@pytest.fixture
def window() -> LogWindow:
    return LogWindow(1, origin_us=START_US)


def _search(
    connection: Connection,
    window: LogWindow,
    text: str,
    *,
    limit: int = 200,
    within_s: float = 1,
    piece_events: int = 20_000,
) -> LogSearch:
    return search_log(
        connection,
        window,
        parse_filter(text, LOG_KEYS),
        cap=TimeCap(within_s, monotonic_s=FakeClock().monotonic_s),
        limit=limit,
        piece_events=piece_events,
    )


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", range(12)),
        ("rid=07", [7]),
        ("-rid=0 -rid=1", []),
        ("t:>=10", [10, 11]),
        ("t:3", [3]),
        ("t:<1 service:server kind:waiting_for_input class:wedge", [0]),
        ("class:crash", []),
        ("-request:abc t:>10", [11]),
    ],
)
def test_a_filter_finds_what_it_says(
    window: LogWindow, connection: Connection, text: str, numbers: list[int]
) -> None:
    found = _search(connection, window, text)

    assert [event.line for event in found.events] == [LINES[number] for number in numbers]
    assert not found.is_more


@pytest.mark.parametrize("piece", [1, 3, 5, 100])
def test_pieces_leave_nothing_out(window: LogWindow, connection: Connection, piece: int) -> None:
    found = _search(connection, window, "waits", piece_events=piece)

    assert [event.line for event in found.events] == LINES
    assert not found.is_more


def test_events_of_one_moment_are_not_cut_apart(connection: Connection) -> None:
    found = _search(connection, LogWindow(2), "", piece_events=2)

    assert [event.line[1] for event in found.events] == list("000111222")


def test_the_newest_are_shown_where_there_are_too_many(
    window: LogWindow, connection: Connection
) -> None:
    found = _search(connection, window, "", limit=2)

    assert [event.line for event in found.events] == LINES[-2:]
    assert found.is_more
    assert not found.is_out_of_time


def test_a_window_bounds_the_search(window: LogWindow, connection: Connection) -> None:
    narrow = LogWindow(window.run_id, START_US + 2 * SECOND_US, START_US + 4 * SECOND_US)

    assert [event.line for event in _search(connection, narrow, "").events] == LINES[2:5]


def test_a_search_whose_time_is_spent_says_so(window: LogWindow, connection: Connection) -> None:
    found = _search(connection, window, "", within_s=0, piece_events=3)

    assert [event.line for event in found.events] == LINES[-4:]
    assert found.is_out_of_time
