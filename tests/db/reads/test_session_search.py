"""Sessions that pass a filter, in their order, with counts, a limit and a time cap."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from sqlalchemy import Connection

from db.filters.keys import SESSION_KEYS
from db.filters.parsing import parse_filter
from db.reads.run_scopes import run_scopes
from db.reads.session_search import SessionSearch, search_sessions, session_places
from db.reads.time_cap import TimeCap
from db.store import Store
from db.vocabulary import Outcome, RunState
from tests.db.factories import stored_campaign, stored_run, stored_session
from tests.db.fresh_stores import FakeClock, fresh_store
from tests.db.reads.conftest import PlanOf
from tests.db.unstored_rows import TurnSpec


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Three runs: leak, done, done; error, done; and done of a run that was stopped."""
    with fresh_store(tmp_path_factory.mktemp("store")) as opened:
        _fill(opened)
        yield opened


def _fill(store: Store) -> None:
    stored = stored_campaign(store)
    first = stored_run(store, stored.arms[0], block=1)
    stored_session(
        store, first, Outcome.LEAK, index=0, decisive_turn=2, flags=["echo_mismatch"], detail="raw"
    )
    stored_session(store, first, Outcome.DONE, index=1, first_token_s=3.5)
    quoted = TurnSpec(tool_calls=({"name": "look", "arguments": '{"city": "A-20417"}'},))
    stored_session(store, first, Outcome.DONE, index=2, turns=[quoted], dialogue_key="d-007")
    second = stored_run(store, stored.arms[2], block=2, flags=["server_died"])
    stored_session(store, second, Outcome.ERROR, index=0, first_token_s=None)
    stored_session(store, second, Outcome.DONE, index=1)
    third = stored_run(store, stored.arms[4], block=2, state=RunState.STOPPED)
    stored_session(store, third, Outcome.DONE, index=0)


def _search(
    connection: Connection,
    text: str,
    *,
    run_ids: Sequence[int] | None = None,
    limit: int = 200,
    offset: int = 0,
    piece_sessions: int = 1000,
) -> SessionSearch:
    return search_sessions(
        connection,
        parse_filter(text, SESSION_KEYS),
        cap=TimeCap(1, monotonic_s=FakeClock().monotonic_s),
        run_ids=run_ids,
        limit=limit,
        offset=offset,
        piece_sessions=piece_sessions,
    )


def _places(found: SessionSearch) -> list[tuple[int, int]]:
    return [(each.session.run_id, each.session.session_index) for each in found.found]


ALL = [(3, 0), (2, 0), (2, 1), (1, 0), (1, 1), (1, 2)]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("", ALL),
        ("outcome:leak", [(1, 0)]),
        ("outcome:leak,error", [(2, 0), (1, 0)]),
        ("outcome:clean run:1", [(1, 1), (1, 2)]),
        ("-outcome:clean", [(2, 0), (1, 0)]),
        ("arm:bf16-on-dtype", []),
        ("arm:bf16-on", [(3, 0), (1, 0), (1, 1), (1, 2)]),
        ("arm:c-8", []),
        ("arm:c-80 outcome:done", [(2, 1), (1, 1), (1, 2)]),
        ("arm:a-3", [(2, 0), (2, 1)]),
        ("level:hicache=off", [(2, 0), (2, 1)]),
        ("-level:hicache=off c:>=60", [(1, 0), (1, 1), (1, 2)]),
        ("c:1", [(3, 0)]),
        ("block:>1 state:done", [(2, 0), (2, 1)]),
        ("runflag:server_died", [(2, 0), (2, 1)]),
        ("campaign:c-1 campaign:decisive-test run:>2", [(3, 0)]),
        ("campaign:another", []),
        ("turn:>2", [(1, 0)]),
        ("turn:3", [(1, 0)]),
        ("-turn:3 run:1", [(1, 1), (1, 2)]),
        ("ttft:>=3.5", [(1, 1)]),
        ("-ttft:<3", [(2, 0), (1, 1)]),
        ("duration:10 run:1", [(1, 0), (1, 1), (1, 2)]),
        ("reason:stalled", [(2, 0)]),
        ("-reason:stalled run:2", [(2, 1)]),
        ("flag:echo_mismatch", [(1, 0)]),
        ("-flag:echo_mismatch run:1", [(1, 1), (1, 2)]),
        ("dialogue:D-007", [(1, 2)]),
        ("session:s-1", [(1, 0)]),
        ("RAW", [(1, 0)]),
        ('"｜DSML｜tool_calls"', [(1, 0)]),
        ('"\\"city\\": \\"A-20417\\""', [(1, 2)]),
        ('-"check_weather" run:1', []),
        ('"100%"', []),
        ("nowhere", []),
    ],
)
def test_a_filter_finds_what_it_says(
    connection: Connection, text: str, places: list[tuple[int, int]]
) -> None:
    found = _search(connection, text)

    assert _places(found) == places
    assert found.is_complete
    assert found.passing == len(places)


@pytest.mark.parametrize("also", ["", "rounds:>=0"])
def test_the_counts_leave_the_outcome_asked_for_aside(connection: Connection, also: str) -> None:
    found = _search(connection, f"outcome:leak run:1 {also}")

    counted = {outcome: number for outcome, number in found.matched.items() if number}
    assert counted == {"leak": 1, "done": 2}
    assert found.passing == 1


@pytest.mark.parametrize("also", ["", "rounds:>=0"])
def test_pages_follow_one_another_in_the_order_of_the_list(
    connection: Connection, also: str
) -> None:
    pages = [_search(connection, also, limit=2, offset=offset) for offset in (0, 2, 4, 6)]

    assert [_places(page) for page in pages] == [ALL[:2], ALL[2:4], ALL[4:], []]


def test_a_search_stays_among_the_runs_it_is_given(connection: Connection) -> None:
    assert _places(_search(connection, "outcome:done", run_ids=[2, 3])) == [(3, 0), (2, 1)]
    assert _search(connection, "", run_ids=[]).of == 0


def test_a_search_whose_time_is_spent_says_how_far_it_came(connection: Connection) -> None:
    found = search_sessions(
        connection,
        parse_filter("rounds:>=0", SESSION_KEYS),
        cap=TimeCap(0, monotonic_s=FakeClock().monotonic_s),
    )

    assert (found.looked_at, found.of, found.is_complete) == (0, 6, False)


def test_a_large_run_is_looked_through_in_spans(tmp_path: Path) -> None:
    with fresh_store(tmp_path) as store:
        run = stored_run(store, stored_campaign(store).arms[0])
        outcomes = [Outcome.DONE, Outcome.LEAK] * 3
        for place, outcome in enumerate(outcomes):  # with gaps, as of a run that is driven
            stored_session(store, run, outcome, index=place * 3, turns=())
        with store.session() as session:
            found = _search(session.connection(), "outcome:leak tokens:>0", piece_sessions=4)

    assert [index for _, index in _places(found)] == [3, 9, 15]
    assert found.matched == {"leak": 3, "done": 3}
    assert found.is_complete


def test_the_places_of_a_filter_say_whether_they_are_all(connection: Connection) -> None:
    wanted = parse_filter("outcome:done", SESSION_KEYS)
    cap = TimeCap(1, monotonic_s=FakeClock().monotonic_s)

    found = [session_places(connection, wanted, cap=cap, limit=limit) for limit in (9, 2)]

    assert [[place.id for place in each.places] for each in found] == [[6, 5, 2, 3], [6, 5]]
    assert [each.is_all for each in found] == [True, False]
    assert found[0].places == sorted(found[0].places, key=lambda place: place.rank)


def test_a_filter_on_runs_and_outcomes_reads_sessions_by_an_index(plan_of: PlanOf) -> None:
    steps = plan_of(lambda connection: _search(connection, "outcome:leak run:1"))

    assert [step for step in steps if "session" in step.lower() and "SCAN" in step] == []


@pytest.mark.parametrize("text", ["campaign:c-1", "arm:a-1,a-3"])
def test_arms_of_other_campaigns_than_those_named_are_not_read(text: str, plan_of: PlanOf) -> None:
    steps = plan_of(lambda connection: run_scopes(connection, parse_filter(text, SESSION_KEYS)))

    assert not [step for step in steps if step.startswith("SCAN arm")]


def test_the_arms_of_named_runs_alone_are_read(plan_of: PlanOf) -> None:
    everything = parse_filter("", SESSION_KEYS)

    steps = plan_of(lambda connection: run_scopes(connection, everything, run_ids=[1]))

    assert not [step for step in steps if step.startswith("SCAN arm")]


def test_a_campaign_may_be_named_by_id_or_by_name(connection: Connection) -> None:
    assert _search(connection, "campaign:c-1,decisive-test").passing == 6
    assert _search(connection, "campaign:c-2").passing == 0
