import asyncio
import contextlib
import time
from threading import Thread

import pytest
from sqlmodel import SQLModel, col, func, select

from db.connections import connect_sqlite
from db.errors import (
    DuplicateSessionError,
    RecorderClosedError,
    RecorderFailedError,
    RecorderStuckError,
    RowMissingError,
    RunClosedError,
    StoreFullError,
    StoreLockedError,
)
from db.raw_bytes import CAP_BYTES, decompress
from db.recorder import EndedSession, EndedTurn, Recorder
from db.session_writing import table_of
from db.store import Store
from db.tables.observations import LogEventRow, MetricSampleRow
from db.tables.runs import RunRow
from db.tables.sessions import RawRow, SessionRow, TurnRow
from db.vocabulary import Outcome, RunState
from tests.db.factories import refreshed_run, stored_campaign, stored_id, stored_run
from tests.db.fresh_stores import START_US
from tests.db.unstored_rows import CLEAN_TURNS, LEAKED_TURNS, TurnSpec, session_row, turn_row

LONG_S = 60.0


@pytest.fixture
def run(store: Store) -> RunRow:
    return stored_run(store, stored_campaign(store).arms[0], state=RunState.DRIVING)


def ended_session(
    run: RunRow,
    outcome: Outcome = Outcome.DONE,
    *,
    index: int = 0,
    turns: tuple[TurnSpec, ...] = CLEAN_TURNS,
) -> EndedSession:
    return EndedSession(
        session=session_row(stored_id(run), outcome, index=index),
        turns=tuple(
            EndedTurn(
                turn=turn_row(spec, index=position),
                request=b'{"turn": %d}' % position,
                response=spec.response,
                reads=[(0.25, len(spec.response))],
            )
            for position, spec in enumerate(turns)
        ),
    )


def sample(run: RunRow, value: float = 1.0) -> MetricSampleRow:
    return MetricSampleRow(
        run_id=stored_id(run), service="server", at_us=START_US, name="running", value=value
    )


def count(store: Store, kind: type[SQLModel]) -> int:
    with store.session() as session:
        return session.exec(select(func.count()).select_from(table_of(kind))).one()


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


async def test_one_bad_session_does_not_cost_its_neighbours(store: Store, run: RunRow) -> None:
    unstorable = ended_session(run, index=1)
    unstorable.session.flags = [object()]
    sessions = [ended_session(run, index=0), unstorable, ended_session(run, index=2)]

    with Recorder(store) as recorder:
        results = await asyncio.gather(
            *(recorder.session_ended(each) for each in sessions), return_exceptions=True
        )

    assert [type(result).__name__ for result in results] == [
        "NoneType",
        "StatementError",
        "NoneType",
    ]
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


async def test_closing_commits_all_that_was_put(store: Store, run: RunRow) -> None:
    event = LogEventRow(
        run_id=stored_id(run),
        service="server",
        at_us=START_US,
        kind="abort",
        event_class="wedge",
        line="AbortReq",
    )

    with Recorder(store, linger_s=LONG_S) as recorder:
        for _ in range(20):
            recorder.put([sample(run), sample(run), event])

    assert count(store, MetricSampleRow) == 40
    assert count(store, LogEventRow) == 20


def test_flush_returns_once_all_before_it_is_committed(store: Store, run: RunRow) -> None:
    with Recorder(store, linger_s=LONG_S) as recorder:
        recorder.put([sample(run)])
        recorder.flush()

        assert count(store, MetricSampleRow) == 1


async def test_a_small_recorder_holds_its_givers_back_and_loses_nothing(
    store: Store, run: RunRow
) -> None:
    with Recorder(store, linger_s=0.0, capacity_bytes=1) as recorder:
        await asyncio.gather(*(recorder.put_async([sample(run, n)]) for n in range(50)))
        threads = [Thread(target=recorder.put, args=([sample(run, n)],)) for n in range(10)]
        for thread in threads:
            thread.start()
        await asyncio.gather(
            *(recorder.session_ended(ended_session(run, index=n)) for n in range(20))
        )
        for thread in threads:
            thread.join(LONG_S)

    assert count(store, MetricSampleRow) == 60
    assert count(store, SessionRow) == 20


async def test_rows_that_could_not_be_written_surface_at_the_next_call(
    store: Store, run: RunRow
) -> None:
    orphan = sample(run)
    orphan.run_id = 99
    recorder = Recorder(store)
    recorder.put([orphan])

    with pytest.raises(RecorderFailedError, match="the record has a gap"):
        recorder.flush()
    with pytest.raises(RecorderFailedError):
        recorder.put([sample(run)])
    with pytest.raises(RecorderFailedError):
        recorder.close()
    with pytest.raises(RecorderFailedError):
        await recorder.session_ended(ended_session(run))


async def test_a_full_disk_surfaces_at_whoever_waits(store: Store, run: RunRow) -> None:
    limit_to_present_size(store)
    big = TurnSpec(response=bytes(range(256)) * 16)

    with Recorder(store) as recorder, pytest.raises(StoreFullError, match="make room"):
        for index in range(500):
            await recorder.session_ended(ended_session(run, index=index, turns=(big,) * 20))

    assert refreshed_run(store, run).n_ended == count(store, SessionRow)


async def test_a_store_that_stays_locked_surfaces_and_then_goes_on(
    store: Store, run: RunRow
) -> None:
    assert store.path is not None
    make_impatient(store)
    blocker = connect_sqlite(store.path, "rw")

    with Recorder(store) as recorder:
        blocker.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLockedError):
            await recorder.session_ended(ended_session(run, index=0))
        blocker.execute("ROLLBACK")
        await recorder.session_ended(ended_session(run, index=1))
    blocker.close()

    assert refreshed_run(store, run).n_ended == count(store, SessionRow) == 1


async def test_a_store_that_never_answers_is_told_to_all_who_wait_and_loses_nothing(
    store: Store, run: RunRow
) -> None:
    assert store.path is not None
    blocker = connect_sqlite(store.path, "rw")
    blocker.execute("BEGIN IMMEDIATE")
    recorder = Recorder(store, patience_s=0.05, capacity_bytes=1)

    with pytest.raises(RecorderStuckError, match="look at the disk"):
        await recorder.session_ended(ended_session(run))
    recorder.put([sample(run)])
    with pytest.raises(RecorderStuckError):
        recorder.put([sample(run)])
    with pytest.raises(RecorderStuckError):
        await recorder.put_async([sample(run)])
    with pytest.raises(RecorderStuckError):
        recorder.flush()
    with pytest.raises(RecorderStuckError):
        recorder.close()
    blocker.close()
    close_at_last(recorder)

    assert count(store, SessionRow) == count(store, MetricSampleRow) == 1


def close_at_last(recorder: Recorder) -> None:
    until_s = time.monotonic() + LONG_S
    while time.monotonic() < until_s:
        with contextlib.suppress(RecorderStuckError):
            return recorder.close()
    raise AssertionError("the recorder does not end")


async def test_a_caller_that_is_cancelled_loses_its_answer_and_not_the_session(
    store: Store, run: RunRow
) -> None:
    with Recorder(store, linger_s=LONG_S) as recorder:
        waiting = asyncio.create_task(recorder.session_ended(ended_session(run)))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    assert count(store, SessionRow) == 1


async def test_a_failure_that_nobody_waited_for_surfaces_at_the_close(
    store: Store, run: RunRow
) -> None:
    recorder = Recorder(store, linger_s=LONG_S)
    ended = ended_session(run)
    ended.session.run_id = 99
    waiting = asyncio.create_task(recorder.session_ended(ended))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    with pytest.raises(RecorderFailedError, match="no run r-99"):
        recorder.close()


async def test_a_closed_recorder_takes_nothing_more(store: Store, run: RunRow) -> None:
    recorder = Recorder(store)
    recorder.close()
    recorder.close()

    with pytest.raises(RecorderClosedError):
        recorder.put([sample(run)])
    with pytest.raises(RecorderClosedError):
        recorder.flush()
    with pytest.raises(RecorderClosedError):
        await recorder.put_async([sample(run)])
    with pytest.raises(RecorderClosedError):
        await recorder.session_ended(ended_session(run))


def make_impatient(store: Store) -> None:
    """Wait a millisecond for a lock; it holds for the one connection that the pool keeps."""
    with store.write() as session:
        session.connection().exec_driver_sql("PRAGMA busy_timeout = 1")


def limit_to_present_size(store: Store) -> None:
    """As if the disk were full; it holds for the one connection that the pool keeps."""
    with store.write() as session:
        connection = session.connection()
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")


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
