"""What several real processes may do to one store at once, and what a kill leaves behind."""

from pathlib import Path

from sqlmodel import col, func, select

from db.recorder import EndedSession, Recorder
from db.schema_version import SCHEMA_VERSION
from db.store import Store, open_store
from db.tables.runs import RunRow
from db.tables.sessions import RawRow, SessionRow, TurnRow
from db.vocabulary import RunState
from tests.db.factories import stored_campaign, stored_id, stored_run
from tests.db.processes import next_line, program, run_together
from tests.db.unstored_rows import CLEAN_TURNS, session_row

STORED_BEFORE_THE_KILL = 60


def test_processes_that_open_a_fresh_store_at_once_all_succeed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'decisive.db'}"

    versions = run_together("open_fresh", [[url]] * 3)

    assert versions == [[str(SCHEMA_VERSION)]] * 3


async def test_a_killed_writer_loses_no_session_that_had_ended(store: Store) -> None:
    run = stored_run(store, stored_campaign(store).arms[0], state=RunState.DRIVING)
    run_id = stored_id(run)

    with program("record_for_ever", store.url, str(run_id)) as process:
        ended = {int(next_line(process)) for _ in range(STORED_BEFORE_THE_KILL)}
        process.kill()
        assert process.stdout is not None
        ended |= {int(line) for line in process.stdout.read().splitlines() if line}

    with open_store(store.url) as reopened:
        stored = stored_sessions(reopened, run_id)
        assert ended <= stored
        assert_every_stored_session_is_whole(reopened, run_id, len(stored))
        with Recorder(reopened) as recorder:
            session = session_row(run_id, index=max(stored) + 1)
            await recorder.session_ended(EndedSession(session=session))
        assert len(stored_sessions(reopened, run_id)) == len(stored) + 1


def stored_sessions(store: Store, run_id: int) -> set[int]:
    with store.session() as session:
        return set(
            session.exec(select(SessionRow.session_index).where(SessionRow.run_id == run_id))
        )


def assert_every_stored_session_is_whole(store: Store, run_id: int, count: int) -> None:
    """Counters, turns and raw bytes stand or fall with their session."""
    with store.session() as session:
        run = session.exec(select(RunRow).where(RunRow.id == run_id)).one()
        turns = session.exec(select(func.count(col(TurnRow.id)))).one()
        raws = session.exec(select(func.count(col(RawRow.id)))).one()
    turns_each = len(CLEAN_TURNS)
    assert run.n_ended == run.n_done == count
    assert turns == count * turns_each
    assert raws == turns * 2
