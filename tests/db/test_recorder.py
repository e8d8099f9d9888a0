"""One thread writes for all: what it was given is stored, and what fails reaches who waits."""

import asyncio
import contextlib
import time
from threading import Thread

import pytest

from db.connections import connect_sqlite
from db.errors import (
    RecorderClosedError,
    RecorderFailedError,
    RecorderStuckError,
    StoreFullError,
    StoreLockedError,
)
from db.recorder import Recorder
from db.store import Store
from db.tables.observations import LogEventRow, MetricSampleRow
from db.tables.runs import RunRow
from db.tables.sessions import SessionRow
from db.vocabulary import RunState
from tests.db.ended_sessions import count, ended_session
from tests.db.factories import refreshed_run, stored_campaign, stored_id, stored_run
from tests.db.fresh_stores import START_US
from tests.db.unstored_rows import TurnSpec

LONG_S = 60.0


@pytest.fixture
def run(store: Store) -> RunRow:
    return stored_run(store, stored_campaign(store).arms[0], state=RunState.DRIVING)


def sample(run: RunRow, value: float = 1.0) -> MetricSampleRow:
    return MetricSampleRow(
        run_id=stored_id(run), service="server", at_us=START_US, name="running", value=value
    )


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
