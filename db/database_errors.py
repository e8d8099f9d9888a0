"""What the database's own error codes mean to the user. It decides the sentence and does no I/O."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, OperationalError

from db.errors import (
    StoreAccessError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreUnreadableError,
)


@contextmanager
def translated_errors(where: str) -> Iterator[None]:
    """Raise what the database reports about the store `where` as a StoreError.

    Errors that are no fault of the place (a broken constraint) pass as they are.
    """
    try:
        yield
    except DBAPIError as error:
        known = (store_error(each, where) for each in _as_they_came(error))
        translated = next(filter(None, known), None)
        if translated is None and isinstance(error, OperationalError):
            reported = " ".join(str(error.orig).split()).rstrip(".")
            translated = StoreAccessError(f"The store {where} cannot be used: {reported}.")
        if translated is None:
            raise
        raise translated from error
    except sqlite3.Error as error:
        translated = store_error(error, where)
        if translated is None:
            raise
        raise translated from error


def _as_they_came(error: BaseException) -> Iterator[BaseException]:
    """The last error first. SQLite gives up a whole transaction where the disk is full, and what is
    heard last is that its savepoint is gone.
    """
    each: BaseException | None = error
    while each is not None:
        yield each
        each = each.__context__


def store_error(error: BaseException | None, where: str) -> StoreError | None:
    """The StoreError for SQLite's result codes (https://www.sqlite.org/rescode.html), if any."""
    code = getattr(error, "sqlite_errorcode", None)
    match None if code is None else code & 0xFF:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreLockedError(
                f"The store {where} stayed locked by another process: "
                "wait for that process or stop it, then try again."
            )
        case sqlite3.SQLITE_FULL:
            return StoreFullError(
                f"The disk with the store {where} is full: make room and try again."
            )
        case sqlite3.SQLITE_NOTADB:
            return StoreUnreadableError(
                f"{where} is not a SQLite database: choose another file for the store."
            )
        case sqlite3.SQLITE_CORRUPT:
            return StoreUnreadableError(
                f"The store {where} is damaged ({error}): restore it from a copy."
            )
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return StoreAccessError(
                f"The store {where} cannot be written: "
                "allow this user to write the file and its folder."
            )
        case sqlite3.SQLITE_CANTOPEN:
            return StoreAccessError(
                f"The store {where} cannot be opened: "
                "check that this user may write the file and its folder."
            )
        case sqlite3.SQLITE_IOERR:
            return StoreAccessError(
                f"The disk with the store {where} reports an error ({error}): "
                "check its free space, its quota and its health."
            )
    return None
