import sqlite3
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlmodel import select

from db.connections import connect_sqlite
from db.database_errors import translated_errors
from db.errors import (
    StoreAccessError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreMissingError,
    StoreReadOnlyError,
    StoreUnreadableError,
)
from db.schema_version import SCHEMA_VERSION
from db.store import Store, open_store, open_store_read_only
from db.tables.campaigns import CampaignRow, NoteRow
from tests.db.factories import stored_campaign, stored_id
from tests.db.processes import ENOUGH_S, program

A_MOMENT_S = 0.2


def url_in(folder: Path, name: str = "decisive.db") -> str:
    return f"sqlite:///{folder / name}"


def test_opening_creates_the_file_and_the_schema(tmp_path: Path) -> None:
    with open_store(url_in(tmp_path)) as store:
        assert store.path == tmp_path / "decisive.db"
        assert store.url == url_in(tmp_path)
        assert store.schema_version() == SCHEMA_VERSION
        assert not store.is_read_only


def test_what_was_written_is_there_after_reopening(tmp_path: Path) -> None:
    with open_store(url_in(tmp_path)) as store:
        stored_campaign(store, name="kept")

    with open_store(url_in(tmp_path)) as store, store.session() as session:
        assert session.exec(select(CampaignRow.name)).all() == ["kept"]


def test_a_closed_store_is_one_file(tmp_path: Path) -> None:
    with open_store(url_in(tmp_path)) as store:
        stored_campaign(store)

    assert [path.name for path in tmp_path.iterdir()] == ["decisive.db"]


def test_a_writer_keeps_a_log_and_checks_references(store: Store) -> None:
    with store.write() as session:
        settings = {
            name: session.connection().exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "foreign_keys", "synchronous", "busy_timeout")
        }

    normal, thirty_seconds = 1, 30_000
    assert settings == {
        "journal_mode": "wal",
        "foreign_keys": 1,
        "synchronous": normal,
        "busy_timeout": thirty_seconds,
    }


def test_a_row_that_refers_to_nothing_is_refused(store: Store) -> None:
    note = NoteRow(campaign_id=99, text="about nothing", written_at_us=1)

    with pytest.raises(IntegrityError), store.write() as session:
        session.add(note)


def test_a_state_outside_of_the_closed_list_is_refused(store: Store) -> None:
    stored_campaign(store)

    lost = text(
        "INSERT INTO launch_request (campaign_file, levels, requested_at_us, state,"
        " attempts, stop_requested) VALUES ('a.yaml', '{}', 1, 'lost', 0, 0)"
    )

    with (
        pytest.raises(IntegrityError, match="ck_launch_request_state_known"),
        store.write() as session,
    ):
        session.connection().execute(lost)


def test_an_error_inside_a_write_leaves_nothing_behind(store: Store) -> None:
    with pytest.raises(KeyError), store.write() as session:
        campaign = CampaignRow(
            name="half",
            question="",
            stack="",
            source_path="",
            source_text="",
            definition_key="k",
            order_seed=1,
            created_at_us=1,
            code_version="",
        )
        session.add(campaign)
        session.flush()
        raise KeyError

    with store.session() as session:
        assert session.exec(select(CampaignRow)).all() == []


def test_a_session_for_reading_cannot_write(store: Store) -> None:
    with pytest.raises(StoreAccessError), store.session() as session:
        session.connection().execute(text("DELETE FROM campaign"))


def test_a_reader_sees_one_moment_while_a_writer_goes_on(store: Store) -> None:
    stored_campaign(store, name="first")

    with store.session() as session:
        before = session.exec(select(CampaignRow.name)).all()
        stored_campaign(store, name="second")
        during = session.exec(select(CampaignRow.name)).all()
    with store.session() as session:
        after = session.exec(select(CampaignRow.name)).all()

    assert before == during == ["first"]
    assert after == ["first", "second"]


def test_rows_stay_usable_after_the_session(store: Store) -> None:
    campaign_id = stored_id(stored_campaign(store).campaign)

    with store.session() as session:
        campaign = session.get(CampaignRow, campaign_id)

    assert campaign is not None
    assert campaign.name == "decisive-test"


def test_levels_keep_the_order_of_the_file(store: Store) -> None:
    stored_campaign(store)

    with store.session() as session:
        levels = session.connection().exec_driver_sql("SELECT levels FROM arm").scalars().first()

    assert levels is not None
    assert levels.startswith('{"index_keys": "bf16", "hicache": "on", "host_pool"')


def test_a_read_only_store_follows_a_writer_and_refuses_to_write(store: Store) -> None:
    with open_store_read_only(store.url) as reader:
        stored_campaign(store, name="seen")

        with reader.session() as session:
            assert session.exec(select(CampaignRow.name)).all() == ["seen"]
        assert reader.is_read_only
        with pytest.raises(StoreReadOnlyError, match="opened for reading"), reader.write():
            pass


def test_a_read_only_store_opens_when_no_writer_is_there(tmp_path: Path) -> None:
    with open_store(url_in(tmp_path)) as store:
        stored_campaign(store)

    with open_store_read_only(url_in(tmp_path)) as reader, reader.session() as session:
        assert len(session.exec(select(CampaignRow)).all()) == 1


def test_a_reader_refuses_a_missing_store_and_does_not_create_it(tmp_path: Path) -> None:
    with pytest.raises(StoreMissingError, match=r"no store at .*decisive\.db: run a campaign"):
        open_store_read_only(url_in(tmp_path))

    assert list(tmp_path.iterdir()) == []


def test_a_reader_refuses_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "decisive.db").touch()

    with pytest.raises(StoreMissingError, match="is empty"):
        open_store_read_only(url_in(tmp_path))


def test_opening_waits_for_a_process_that_is_creating_the_store(tmp_path: Path) -> None:
    """SQLite itself does not wait here: switching to the log fails at once under a write lock."""
    creator = connect_sqlite(tmp_path / "decisive.db", "rwc")
    creator.execute("BEGIN IMMEDIATE")
    versions: list[int] = []

    def open_it() -> None:
        with open_store(url_in(tmp_path)) as store:
            versions.append(store.schema_version())

    opening = Thread(target=open_it)
    opening.start()
    opening.join(A_MOMENT_S)
    waits = opening.is_alive()
    creator.execute("ROLLBACK")
    creator.close()
    opening.join(ENOUGH_S)

    assert waits
    assert versions == [SCHEMA_VERSION]


def test_a_writer_fills_an_empty_file(tmp_path: Path) -> None:
    (tmp_path / "decisive.db").touch()

    with open_store(url_in(tmp_path)) as store:
        assert store.schema_version() == SCHEMA_VERSION


@pytest.mark.parametrize("open_it", [open_store, open_store_read_only])
def test_a_file_that_is_no_database_is_refused_and_left_alone(
    tmp_path: Path, open_it: Callable[[str], Store]
) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database, but long enough to have a header " * 40)
    before = file.read_bytes()

    with pytest.raises(StoreUnreadableError, match=r"notes\.txt is not a SQLite database"):
        open_it(url_in(tmp_path, "notes.txt"))

    assert file.read_bytes() == before


@pytest.mark.parametrize("open_it", [open_store, open_store_read_only])
def test_a_database_of_another_program_is_refused_and_left_alone(
    tmp_path: Path, open_it: Callable[[str], Store]
) -> None:
    file = tmp_path / "bookmarks.db"
    other = sqlite3.connect(file)
    other.execute("CREATE TABLE bookmark (url TEXT)")
    other.close()
    before = file.read_bytes()

    with pytest.raises(StoreUnreadableError, match="another program"):
        open_it(url_in(tmp_path, "bookmarks.db"))

    assert file.read_bytes() == before


@pytest.mark.parametrize("open_it", [open_store, open_store_read_only])
def test_a_folder_is_no_store(tmp_path: Path, open_it: Callable[[str], Store]) -> None:
    with pytest.raises(StoreAccessError, match="is a folder"):
        open_it(f"sqlite:///{tmp_path}")


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreAccessError, match=r"The folder .*/nowhere .* does not exist"):
        open_store(url_in(tmp_path / "nowhere"))


def test_a_folder_without_rights_is_one_sentence(tmp_path: Path) -> None:
    with TemporaryDirectory() as name:
        locked = Path(name)
        locked.chmod(0o555)
        with program("open_without_rights", url_in(tmp_path), url_in(locked)) as process:
            output, errors = process.communicate(timeout=ENOUGH_S)
        locked.chmod(0o755)

    assert process.returncode == 0, errors
    assert output.startswith("StoreAccessError: The store "), output
    assert "may write the file and its folder" in output


def test_a_full_disk_is_one_sentence(store: Store) -> None:
    with pytest.raises(StoreFullError, match="make room"), store.write() as session:
        connection = session.connection()
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
        for _ in range(100):
            connection.exec_driver_sql(
                "INSERT INTO worker (name, host, process_id, started_at_us, heartbeat_at_us)"
                " VALUES (hex(randomblob(4096)), 'h', 1, 1, 1)"
            )


def test_a_damaged_store_is_one_sentence(tmp_path: Path) -> None:
    with open_store(url_in(tmp_path)) as store:
        for number in range(50):
            stored_campaign(store, name=f"campaign-{number}")
    file = tmp_path / "decisive.db"
    content = bytearray(file.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    file.write_bytes(content)

    with pytest.raises(StoreUnreadableError, match="damaged"):
        open_store(url_in(tmp_path))


def test_a_lock_that_is_held_too_long_is_one_sentence(store: Store) -> None:
    assert store.path is not None
    impatient = connect_sqlite(store.path, "rw")
    impatient.execute("PRAGMA busy_timeout = 1")

    with (
        store.write() as session,
        pytest.raises(StoreLockedError, match="locked by another process"),
        translated_errors(str(store.path)),
    ):
        session.connection()
        impatient.execute("BEGIN IMMEDIATE")
    impatient.close()


def test_every_failure_is_a_store_error_of_one_sentence(tmp_path: Path) -> None:
    urls = ["nonsense", "sqlite://", f"sqlite:///{tmp_path}", url_in(tmp_path / "nowhere")]

    for url in urls:
        with pytest.raises(StoreError) as failure:
            open_store(url)
        assert str(failure.value).endswith(".")
        assert "\n" not in str(failure.value)
