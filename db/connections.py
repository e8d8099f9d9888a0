"""How the store talks to its database: drivers, pragmas and transactions. It knows no table."""

import sqlite3
from collections.abc import Callable
from json import dumps, loads
from pathlib import Path
from typing import Literal
from urllib.parse import quote

import msgspec
from sqlalchemy import Connection, Engine, QueuePool, create_engine, event
from sqlalchemy.exc import NoSuchModuleError

from db.errors import StoreUrlError
from db.read_times import ReadTimes
from db.store_url import StoreUrl

BUSY_TIMEOUT_S = 30.0
"""How long a writer waits for another process's transaction."""

_WAL_LIMIT_BYTES = 64 * 1024 * 1024

Access = Literal["ro", "rw", "rwc"]


def reading_engine(url: StoreUrl) -> Engine:
    """Connections that cannot write; each transaction sees one moment of the store."""
    if url.path is None:
        return _server_engine(url).execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
    return _sqlite_engine(url.path, "ro", begin="BEGIN")


def writing_engine(url: StoreUrl) -> Engine:
    """Connections whose transactions take the write lock at their start."""
    if url.path is None:
        return _server_engine(url)
    return _sqlite_engine(url.path, "rw", begin="BEGIN IMMEDIATE")


def migrating_engine(url: StoreUrl) -> Engine:
    """Like writing, but may create the file, and leaves foreign keys alone.

    SQLite alters a table by building it anew, which foreign keys would forbid half-way
    (https://www.sqlite.org/lang_altertable.html, section 7).
    """
    if url.path is None:
        return _server_engine(url)
    return _sqlite_engine(url.path, "rwc", begin="BEGIN IMMEDIATE", foreign_keys=False)


def connect_sqlite(path: Path, access: Access, *, foreign_keys: bool = True) -> sqlite3.Connection:
    """One connection in autocommit mode, so that BEGIN is ours to say."""
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode={access}",
        uri=True,
        timeout=BUSY_TIMEOUT_S,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        for pragma in _pragmas(access, foreign_keys=foreign_keys):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def _pragmas(access: Access, *, foreign_keys: bool) -> list[str]:
    if access == "ro":
        return []
    return [
        f"foreign_keys = {'ON' if foreign_keys else 'OFF'}",
        "synchronous = NORMAL",
        f"journal_size_limit = {_WAL_LIMIT_BYTES}",
    ]


def _sqlite_engine(path: Path, access: Access, *, begin: str, foreign_keys: bool = True) -> Engine:
    engine = create_engine(
        "sqlite://",
        creator=lambda: connect_sqlite(path, access, foreign_keys=foreign_keys),
        poolclass=QueuePool,
        json_serializer=_json_text,
        json_deserializer=_json_value,
    )
    event.listen(engine, "begin", _beginner(begin))
    return engine


def _beginner(statement: str) -> Callable[[Connection], None]:
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(statement)

    return begin


def _server_engine(url: StoreUrl) -> Engine:
    try:
        return create_engine(
            url.url,
            pool_pre_ping=True,
            json_serializer=_json_text,
            json_deserializer=_json_value,
        )
    except (ModuleNotFoundError, NoSuchModuleError) as error:
        raise StoreUrlError(
            f"The store {url} needs a database driver ({error}): install one, "
            "for example with: pip install 'psycopg[binary]'."
        ) from error


def _json_value(text: str) -> object:
    """As JSON columns are read; most of them are empty, of thousands of runs nearly all."""
    if text == "[]":
        return []
    return {} if text == "{}" else loads(text)


def _json_text(value: object) -> str:
    """As JSON columns are written: most are empty; times of reads are many, in pairs."""
    if value == [] or value == {}:
        return "[]" if isinstance(value, list) else "{}"
    if type(value) is ReadTimes:
        return msgspec.json.encode([*value.pairs()]).decode("ascii")
    return dumps(value)
