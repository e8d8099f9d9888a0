"""Which schema a store has, and how an older one is brought to this program's.

Versions are counted: 0001, 0002, ... A store with a higher number was written by a newer program.
"""

import sqlite3
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from db.connections import BUSY_TIMEOUT_S, connect_sqlite, migrating_engine
from db.database_errors import translated_errors
from db.errors import (
    StoreAccessError,
    StoreLockedError,
    StoreMissingError,
    StoreTooNewError,
    StoreTooOldError,
    StoreUnreadableError,
)
from db.store_url import StoreUrl

if TYPE_CHECKING:
    from alembic.config import Config

SCHEMA_VERSION = 2
"""The version that this program reads and writes: the last file in `db/migrations/versions`."""

APPLICATION_ID = 0x44435356
"""Marks a SQLite file as a store of ours (`PRAGMA application_id`); the letters DCSV."""

_POSTGRES_LOCK_KEY = APPLICATION_ID
_RETRY_S = 0.02
_NOT_OURS = "{where} is the database of another program: choose another file for the store."


MIGRATIONS_FOLDER = Path(__file__).parent / "migrations"


def migration_config(
    connection: Connection | None = None, *, folder: Path = MIGRATIONS_FOLDER
) -> "Config":
    """Alembic's settings; there is no ini file, so that the package works wherever it lies."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def revision_name(version: int) -> str:
    return f"{version:04d}"


def read_version(connection: Connection) -> int | None:
    """The schema version, or None where nothing was created yet.

    Raises StoreUnreadableError where it is none that any program wrote.
    """
    if not inspect(connection).has_table("alembic_version"):
        return None
    name = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if name is None:
        return None
    if not (str(name).isascii() and str(name).isdecimal()):
        raise StoreUnreadableError(
            f"The store says of itself that its schema is {str(name)[:40]!r}, which no version of "
            "this program wrote: restore it from a copy."
        )
    return int(name)


def migrate(url: StoreUrl, *, to_version: int = SCHEMA_VERSION) -> None:
    """Create the store or bring it to `to_version`; processes that do so at once take turns.

    Raises StoreTooNewError, StoreUnreadableError, StoreAccessError, StoreLockedError,
    StoreFullError.
    """
    with translated_errors(url.where):
        if url.path is not None:
            _prepare_sqlite_file(url.path)
        engine = migrating_engine(url)
        try:
            with engine.begin() as connection:
                _upgrade(connection, url, to_version=to_version)
        finally:
            engine.dispose()


def require_current(connection: Connection, url: StoreUrl) -> None:
    """Refuse what a reader cannot read.

    Raises StoreMissingError, StoreTooOldError, StoreTooNewError, StoreUnreadableError.
    """
    version = _version_of_ours(connection, url)
    if version is None:
        raise StoreMissingError(
            f"The store {url.where} is empty: run a campaign or start `decisive up` first."
        )
    if version < SCHEMA_VERSION:
        raise StoreTooOldError(
            f"The store {url.where} has schema {version} and this program reads schema "
            f"{SCHEMA_VERSION}: start `decisive worker` or `decisive up` once, which upgrades it."
        )
    _refuse_newer(version, url)


def refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise StoreAccessError(f"The store {path} is a folder: name a file in it.")


def _upgrade(connection: Connection, url: StoreUrl, *, to_version: int) -> None:
    if url.path is None:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _POSTGRES_LOCK_KEY})
    version = _version_of_ours(connection, url)
    if version is not None:
        _refuse_newer(version, url)
        if version >= to_version:
            return
    if url.path is not None:
        connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
    _run_migrations(migration_config(connection), revision_name(to_version))
    if url.path is not None:
        _check_foreign_keys(connection, url)


def _run_migrations(config: "Config", revision: str) -> None:
    """Alembic is imported here, since nearly every store that is opened is current."""
    from alembic import command

    command.upgrade(config, revision)


def _version_of_ours(connection: Connection, url: StoreUrl) -> int | None:
    if url.path is not None:
        application_id = connection.exec_driver_sql("PRAGMA application_id").scalar_one()
        objects = connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one()
        if not _is_ours_or_empty(application_id, objects):
            raise StoreUnreadableError(_NOT_OURS.format(where=url.where))
    return read_version(connection)


def _is_ours_or_empty(application_id: int, objects: int) -> bool:
    return application_id == APPLICATION_ID or (application_id == 0 and objects == 0)


def _refuse_newer(version: int, url: StoreUrl) -> None:
    if version > SCHEMA_VERSION:
        raise StoreTooNewError(
            f"The store {url.where} has schema {version}, newer than the schema {SCHEMA_VERSION} "
            "of this program: upgrade Decisive or choose another store."
        )


def _check_foreign_keys(connection: Connection, url: StoreUrl) -> None:
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if broken is not None:
        raise StoreUnreadableError(
            f"The store {url.where} is damaged: a row of {broken[0]} refers to a row of "
            f"{broken[2]} that is gone; restore it from a copy."
        )


def _prepare_sqlite_file(path: Path) -> None:
    """Create the file and switch it to WAL, which cannot be done inside a transaction."""
    if not path.parent.is_dir():
        raise StoreAccessError(
            f"The folder {path.parent} for the store {path.name} does not exist: "
            "create it or choose another store."
        )
    refuse_folder(path)
    connection = connect_sqlite(path, "rwc")
    try:
        (application_id,) = connection.execute("PRAGMA application_id").fetchone()
        (objects,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not _is_ours_or_empty(application_id, objects):
            raise StoreUnreadableError(_NOT_OURS.format(where=path))
        _switch_to_wal(connection, path)
    finally:
        connection.close()


def _switch_to_wal(connection: sqlite3.Connection, path: Path) -> None:
    """SQLite's busy timeout does not cover this switch, so the waiting is done here."""
    deadline_s = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            mode = "locked"
        if mode == "wal":
            return
        if mode != "locked":
            raise StoreAccessError(
                f"The store {path} lies where SQLite cannot keep a write-ahead log (it offers "
                f"{mode!r}): choose a local disk."
            )
        if time.monotonic() > deadline_s:
            raise StoreLockedError(
                f"The store {path} stayed locked by another process: wait for it or stop it."
            )
        time.sleep(_RETRY_S)
