"""The store: where everything that happened is kept, and the two ways to open it.

It knows addresses, transactions and schema versions, and no question that is asked of the rows.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from sqlalchemy import Engine
from sqlmodel import Session

from db.clock import Clock, SystemClock
from db.connections import reading_engine, writing_engine
from db.database_errors import translated_errors
from db.errors import StoreMissingError, StoreReadOnlyError
from db.schema_version import migrate, read_version, refuse_folder, require_current
from db.spare_room import spare_room
from db.store_url import DEFAULT_STORE_URL as DEFAULT_STORE_URL
from db.store_url import StoreUrl, parse_store_url


class Store:
    """An opened store. Threads may share it; processes open their own."""

    def __init__(
        self, url: StoreUrl, *, clock: Clock, reading: Engine, writing: Engine | None
    ) -> None:
        self.clock = clock
        self._url = url
        self._reading = reading
        self._writing = writing

    @property
    def url(self) -> str:
        """The address, fit to be shown: without a password, a relative path made absolute."""
        return str(self._url) if self.path is None else f"sqlite:///{self.path}"

    @property
    def path(self) -> Path | None:
        """The absolute path of a SQLite store; None for a server."""
        return self._url.path

    @property
    def is_read_only(self) -> bool:
        return self._writing is None

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A session for reading: one consistent moment, and no way to write.

        Rows stay usable after it ends. Keep it short: an open one holds back the clean-up of the
        write-ahead log. Raises StoreError where the database fails.
        """
        with (
            translated_errors(self._url.where),
            Session(self._reading, expire_on_commit=False) as session,
        ):
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A transaction that holds the one write lock from its first statement to its commit.

        Keep it short, and wait for nothing inside: other writers stand in line. Commits at the
        end, rolls back on any error. Raises StoreReadOnlyError, StoreLockedError, StoreFullError.
        """
        if self._writing is None:
            raise StoreReadOnlyError(
                f"The store {self._url.where} was opened for reading: open it for writing."
            )
        with (
            translated_errors(self._url.where),
            Session(self._writing, expire_on_commit=False) as session,
            session.begin(),
        ):
            yield session

    def spare_room(self) -> ExitStack:
        """Room on the store's disk that whoever closes it gives up for a last write."""
        return spare_room(self.path.parent) if self.path is not None else ExitStack()

    def schema_version(self) -> int:
        with self.session() as session:
            version = read_version(session.connection())
        if version is None:
            raise StoreMissingError(f"The store {self._url.where} was emptied while it was open.")
        return version

    def close(self) -> None:
        self._reading.dispose()
        if self._writing is not None:
            self._writing.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_store(url: str, *, clock: Clock | None = None) -> Store:
    """The store at `url` for writing: created where there is none, upgraded where it is older.

    Raises StoreUrlError, StoreTooNewError, StoreUnreadableError, StoreAccessError,
    StoreLockedError, StoreFullError.
    """
    parsed = parse_store_url(url)
    migrate(parsed)
    return Store(
        parsed,
        clock=clock or SystemClock(),
        reading=reading_engine(parsed),
        writing=writing_engine(parsed),
    )


def open_store_read_only(url: str, *, clock: Clock | None = None) -> Store:
    """The store at `url` for reading; it creates and changes nothing.

    Raises StoreUrlError, StoreMissingError, StoreTooNewError, StoreTooOldError,
    StoreUnreadableError, StoreAccessError.
    """
    parsed = parse_store_url(url)
    if parsed.path is not None:
        refuse_folder(parsed.path)
        if not parsed.path.exists():
            raise StoreMissingError(
                f"There is no store at {parsed.path}: run a campaign or start `decisive up` first."
            )
    store = Store(
        parsed, clock=clock or SystemClock(), reading=reading_engine(parsed), writing=None
    )
    try:
        with store.session() as session:
            require_current(session.connection(), parsed)
    except BaseException:
        store.close()
        raise
    return store
