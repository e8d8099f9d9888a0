"""An ended session as its rows: whole or not at all, and counted in its run."""

import asyncio
from collections.abc import Sequence

import pytest
from sqlmodel import col, select

from db.errors import DuplicateSessionError, RowMissingError, RunClosedError
from db.raw_bytes import CAP_BYTES, decompress
from db.recorder import EndedSession, LateSession, Recorder
from db.store import Store
from db.tables.runs import RunRow
from db.tables.sessions import RawRow, SessionRow, TurnRow
from db.vocabulary import Outcome, RunState
from tests.db.ended_sessions import count, ended_session
from tests.db.factories import refreshed_run, stored_campaign, stored_run
from tests.db.unstored_rows import CLEAN_TURNS, LEAKED_TURNS, TurnSpec


@pytest.fixture
def run(store: Store) -> RunRow:
    return stored_run(store, stored_campaign(store).arms[0], state=RunState.DRIVING)


async def test_an_ended_session_is_stored_whole_when_the_call_returns(
    store: Store, run: RunRow
) -> None:
    with Recorder(store) as recorder:
        await recorder.session_ended(
            ended_session(run, Outcome.LEAK, index=5, turns=CLEAN_TURNS[:1] + LEAKED_TURNS)
        )

        with store.session() as session:
            stored = session.exec(select(SessionRow)).one()
            turns = session.exec(select(TurnRow).order_by(col(TurnRow.turn_index))).all()
            raws = session.exec(select(RawRow).order_by(col(RawRow.id))).all()

    assert (stored.outcome, stored.session_index) == ("leak", 5)
    assert [turn.session_id for turn in turns] == [stored.id, stored.id]
    assert [turn.reading for turn in turns] == ["tool", "leak"]
    assert [(raw.turn_id, raw.kind) for raw in raws] == [
        (turns[0].id, "request"),
        (turns[0].id, "response"),
        (turns[1].id, "request"),
        (turns[1].id, "response"),
    ]
    assert [decompress(raw.content) for raw in raws[2:]] == [b'{"turn": 1}', b"data: [DONE]\n\n"]
    assert raws[3].reads == [[0.25, 14]]
    assert raws[3].at_us - raws[2].at_us == 1_000_000


async def test_the_rows_handed_over_get_their_ids(store: Store, run: RunRow) -> None:
    ended = ended_session(run)

    with Recorder(store) as recorder:
        await recorder.session_ended(ended)

    assert ended.session.id is not None
    assert [each.turn.session_id for each in ended.turns] == [ended.session.id] * 2
    assert all(each.turn.id for each in ended.turns)


async def test_the_run_counts_each_outcome(store: Store, run: RunRow) -> None:
    outcomes = [*Outcome, Outcome.LEAK, Outcome.ERROR]

    with Recorder(store) as recorder:
        await asyncio.gather(
            *(
                recorder.session_ended(ended_session(run, outcome, index=index, turns=()))
                for index, outcome in enumerate(outcomes)
            )
        )

    counted = refreshed_run(store, run)
    expected = {outcome: outcomes.count(outcome) for outcome in Outcome}
    assert {outcome: getattr(counted, f"n_{outcome}") for outcome in Outcome} == expected
    assert counted.n_ended == len(outcomes) == count(store, SessionRow)


async def test_a_session_cannot_be_recorded_twice(store: Store, run: RunRow) -> None:
    with Recorder(store) as recorder:
        await recorder.session_ended(ended_session(run, index=3))

        with pytest.raises(DuplicateSessionError, match="r-1 already has a session 3"):
            await recorder.session_ended(ended_session(run, Outcome.LEAK, index=3))

    counted = refreshed_run(store, run)
    assert (counted.n_ended, counted.n_done, counted.n_leak) == (1, 1, 0)
    assert count(store, TurnRow) == 2


async def faults_of(store: Store, sessions: Sequence[EndedSession | LateSession]) -> list[str]:
    """What each of them was told when all were given at once; NoneType where it was stored."""
    with Recorder(store) as recorder:
        results = await asyncio.gather(
            *(recorder.session_ended(each) for each in sessions), return_exceptions=True
        )
    return [type(result).__name__ for result in results]


async def test_one_bad_session_does_not_cost_its_neighbours(store: Store, run: RunRow) -> None:
    unstorable = ended_session(run, index=1)
    unstorable.session.flags = [object()]
    sessions = [ended_session(run, index=0), unstorable, ended_session(run, index=2)]

    assert await faults_of(store, sessions) == ["NoneType", "StatementError", "NoneType"]
    assert refreshed_run(store, run).n_ended == count(store, SessionRow) == 2


def late(ended: EndedSession) -> LateSession:
    return LateSession(make=lambda: ended, turn_count=ended.turn_count, size_bytes=ended.size_bytes)


async def test_rows_that_are_made_late_are_stored_as_others_are(store: Store, run: RunRow) -> None:
    with Recorder(store) as recorder:
        await recorder.session_ended(ended_session(run, index=0))
        await recorder.session_ended(late(ended_session(run, index=1)))

    assert refreshed_run(store, run).n_ended == count(store, SessionRow) == 2
    assert count(store, TurnRow) == 2 * ended_session(run).turn_count


async def test_rows_that_cannot_be_made_are_told_to_who_gave_them_and_cost_no_other(
    store: Store, run: RunRow
) -> None:
    def fail() -> EndedSession:
        raise ZeroDivisionError("ours")

    sessions = [
        late(ended_session(run, index=0)),
        LateSession(make=fail, turn_count=1, size_bytes=9),
        late(ended_session(run, index=2)),
    ]

    assert await faults_of(store, sessions) == ["NoneType", "ZeroDivisionError", "NoneType"]
    assert refreshed_run(store, run).n_ended == count(store, SessionRow) == 2


async def test_a_done_run_takes_no_more_sessions(store: Store) -> None:
    run = stored_run(store, stored_campaign(store).arms[0], state=RunState.DONE)

    with Recorder(store) as recorder, pytest.raises(RunClosedError, match="r-1 is done"):
        await recorder.session_ended(ended_session(run))

    assert count(store, SessionRow) == 0


async def test_a_stopped_run_still_keeps_what_ends_late(store: Store) -> None:
    run = stored_run(store, stored_campaign(store).arms[0], state=RunState.STOPPED)

    with Recorder(store) as recorder:
        await recorder.session_ended(ended_session(run))

    assert refreshed_run(store, run).n_ended == 1


async def test_a_session_of_no_run_is_refused(store: Store, run: RunRow) -> None:
    ended = ended_session(run)
    ended.session.run_id = 99

    with Recorder(store) as recorder, pytest.raises(RowMissingError, match="no run r-99"):
        await recorder.session_ended(ended)


async def test_a_response_beyond_the_limit_is_cut_and_flags_turn_and_run(
    store: Store, run: RunRow
) -> None:
    huge = TurnSpec(response=bytes(CAP_BYTES + 1))

    with Recorder(store) as recorder:
        await recorder.session_ended(ended_session(run, index=0, turns=(huge,)))
        await recorder.session_ended(ended_session(run, index=1, turns=(huge,)))

    with store.session() as session:
        raws = session.exec(select(RawRow).where(RawRow.kind == "response")).all()
    assert [(raw.is_capped, raw.size_bytes) for raw in raws] == [(True, CAP_BYTES + 1)] * 2
    assert len(decompress(raws[0].content)) == CAP_BYTES
    assert refreshed_run(store, run).flags == ["record_capped"]


async def test_sessions_that_end_together_are_stored_together_each_with_its_own_turns(
    store: Store, run: RunRow
) -> None:
    outcomes = [Outcome.LEAK, Outcome.DONE, Outcome.ERROR, Outcome.LEAK] * 20
    sessions = [ended_session(run, outcome, index=at) for at, outcome in enumerate(outcomes)]

    with Recorder(store, linger_s=0.2) as recorder:
        await asyncio.gather(*(recorder.session_ended(each) for each in sessions))

    counted = refreshed_run(store, run)
    assert (counted.n_ended, counted.n_leak, counted.n_done, counted.n_error) == (80, 40, 20, 20)
    with store.session() as session:
        for ended in sessions:
            turns = session.exec(
                select(TurnRow).where(TurnRow.session_id == ended.session.id)
            ).all()
            assert {turn.id for turn in turns} == {each.turn.id for each in ended.turns}
            stored = session.get_one(SessionRow, ended.session.id)
            assert (stored.session_index, stored.outcome) == (
                ended.session.session_index,
                ended.session.outcome,
            )


async def test_of_two_sessions_of_one_index_that_end_together_the_first_is_kept(
    store: Store, run: RunRow
) -> None:
    twins = [ended_session(run, index=3), ended_session(run, Outcome.LEAK, index=3)]
    others = [ended_session(run, index=4), ended_session(run, index=5)]

    with Recorder(store, linger_s=0.2) as recorder:
        results = await asyncio.gather(
            *(recorder.session_ended(each) for each in [*twins, *others]), return_exceptions=True
        )

    assert [type(result) for result in results] == [
        type(None),
        DuplicateSessionError,
        type(None),
        type(None),
    ]
    counted = refreshed_run(store, run)
    assert (counted.n_ended, counted.n_done, counted.n_leak) == (3, 3, 0)


async def test_sessions_of_two_runs_that_end_together_count_in_their_own_run(
    store: Store, run: RunRow
) -> None:
    other = stored_run(store, stored_campaign(store, name="other").arms[0], state=RunState.DRIVING)
    sessions = [ended_session(each, index=at) for at in range(6) for each in (run, other)]

    with Recorder(store, linger_s=0.2) as recorder:
        await asyncio.gather(*(recorder.session_ended(each) for each in sessions))

    assert refreshed_run(store, run).n_ended == refreshed_run(store, other).n_ended == 6
