"""The one writer of a process: a thread that commits what many coroutines hand over, in groups.

It knows when something counts as stored, and nothing of what the rows mean.
"""

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import groupby
from types import TracebackType
from typing import Self

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError
from sqlmodel import SQLModel

from db.errors import (
    RecorderClosedError,
    RecorderFailedError,
    RecorderStuckError,
    StoreLockedError,
)
from db.inbox import Inbox, InboxClosedError, InboxFullError
from db.session_writing import EndedSession as EndedSession
from db.session_writing import EndedTurn as EndedTurn
from db.session_writing import LateSession as LateSession
from db.session_writing import (
    PackedSession,
    StoredIds,
    insert_rows,
    pack_session,
    write_sessions,
)
from db.store import Store
from db.thread_future import is_settled

LINGER_S = 0.25
"""How long the first item waits for others, which halves what storing costs where some hundred
sessions end a second. Nobody is held up by it: a session is stored while the next one is played."""

_QUIET_S = 0.1  # without another item, none is waited for: so much later a run ends

_COMPANY = 16  # storing more of them together saves little

CAPACITY_BYTES = 64 * 1024 * 1024
PATIENCE_S = 300.0
"""For whoever waits for a commit: above two batches that meet a locked store at every attempt."""

_WEIGHT_OF_ROW = 1024
_ATTEMPTS_WHEN_LOCKED = 4


@dataclass(slots=True, eq=False)
class _Item:
    """Something to be written. `committed` is what its giver waits for, if it does."""

    content: EndedSession | LateSession | Sequence[SQLModel]
    committed: "Future[None]" = field(default_factory=Future)
    is_awaited: bool = True
    packed: PackedSession | None = None
    ids: StoredIds | None = None
    error: Exception | None = None

    @property
    def weight(self) -> int:
        if isinstance(self.content, EndedSession | LateSession):
            return _WEIGHT_OF_ROW * (1 + self.content.turn_count) + self.content.size_bytes
        return _WEIGHT_OF_ROW * len(self.content)


class Recorder:
    """Writes for one process. Close it, or use it as a context, so that nothing is lost.

    Where a disk or a database server hangs, each method raises RecorderStuckError after
    `patience_s`; what was handed over may still be stored later.
    """

    def __init__(
        self,
        store: Store,
        *,
        linger_s: float = LINGER_S,
        capacity_bytes: int = CAPACITY_BYTES,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._store = store
        self._patience_s = patience_s
        self._inbox: Inbox[_Item] = Inbox(
            capacity=capacity_bytes,
            linger_s=linger_s,
            patience_s=patience_s,
            company=_COMPANY,
            quiet_s=_QUIET_S,
        )
        self._failure: Exception | None = None
        self._thread = threading.Thread(target=self._work, name="recorder", daemon=True)
        self._thread.start()

    async def session_ended(self, ended: EndedSession | LateSession) -> None:
        """Store a session; returns once it is committed, and `ended.session.id` is set.

        The counters of the run change in the same transaction. A caller that is cancelled while it
        waits loses its answer, not the session. Raises DuplicateSessionError, RunClosedError,
        RowMissingError, RecorderClosedError, RecorderFailedError, StoreError where the database
        fails, and what making a late one raises.
        """
        item = _Item(ended)
        await self._hand_over_async(item)
        try:
            is_settled_in_time = await is_settled(item.committed, within_s=self._patience_s)
        except asyncio.CancelledError:
            item.committed.add_done_callback(self._note_unheard)
            raise
        if not is_settled_in_time:
            item.committed.add_done_callback(self._note_unheard)
            raise self._stuck_error()
        item.committed.result(timeout=0)

    def put(self, rows: Sequence[SQLModel]) -> None:
        """Hand over samples, log events, raw rows; blocks while the recorder is behind.

        They are committed soon. Should that fail, the next call of any method raises
        RecorderFailedError, so that no gap goes unseen. Raises RecorderClosedError too.
        """
        self._raise_failure()
        item = _Item(list(rows), is_awaited=False)
        try:
            self._inbox.put(item, weight=item.weight)
        except InboxClosedError:
            raise self._closed_error() from None
        except InboxFullError:
            raise self._stuck_error() from None

    async def put_async(self, rows: Sequence[SQLModel]) -> None:
        """Like `put`, but while the recorder is behind it is the coroutine that waits."""
        await self._hand_over_async(_Item(list(rows), is_awaited=False))

    def flush(self) -> None:
        """Block until all that was handed over before is committed. Raises like `put`."""
        self._raise_failure()
        item = _Item([])
        try:
            self._inbox.put_urgent(item)
        except InboxClosedError:
            raise self._closed_error() from None
        try:
            item.committed.result(timeout=self._patience_s)
        except TimeoutError:
            raise self._stuck_error() from None
        self._raise_failure()

    def close(self) -> None:
        """Commit what is left and end. Raises RecorderFailedError where rows were lost."""
        self._inbox.close()
        self._thread.join(timeout=self._patience_s)
        self._raise_failure()
        if self._thread.is_alive():
            raise self._stuck_error()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def _hand_over_async(self, item: _Item) -> None:
        self._raise_failure()
        try:
            if not self._inbox.offer(item, weight=item.weight):
                await asyncio.to_thread(self._inbox.put, item, weight=item.weight)
        except InboxClosedError:
            raise self._closed_error() from None
        except InboxFullError:
            raise self._stuck_error() from None

    def _work(self) -> None:
        """The thread: it ends when the inbox is closed and empty."""
        while items := self._inbox.take():
            try:
                self._write(items)
            except Exception as error:  # whatever it is, it belongs to those who wait
                for item in items:
                    item.error = item.error or error
            for item in items:
                self._settle(item)

    def _write(self, items: Sequence[_Item]) -> None:
        for item in items:
            _pack(item)
        for attempt in range(1, _ATTEMPTS_WHEN_LOCKED + 1):
            try:
                with self._store.write() as session:
                    connection = session.connection()
                    for _, group in groupby(items, key=_run_of):
                        _write_group(connection, [*group])
            except StoreLockedError:
                if attempt == _ATTEMPTS_WHEN_LOCKED:
                    raise
            else:
                return

    def _settle(self, item: _Item) -> None:
        if item.error is None:
            _fill_in_ids(item)
            item.committed.set_result(None)
            return
        if not item.is_awaited:
            self._failure = self._failure or item.error
        item.committed.set_exception(item.error)

    def _note_unheard(self, committed: "Future[None]") -> None:
        error = committed.exception()
        if isinstance(error, Exception):
            self._failure = self._failure or error

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise RecorderFailedError(
                f"Something could not be recorded, so the record has a gap: {self._failure}"
            ) from self._failure

    def _stuck_error(self) -> RecorderStuckError:
        return RecorderStuckError(
            f"Nothing has been stored for {self._patience_s:g} s, so the record has a gap: look at "
            "the disk or the server of the store, then give the same command again."
        )

    def _closed_error(self) -> RecorderClosedError:
        return RecorderClosedError("The recorder is closed and takes nothing more.")


def _pack(item: _Item) -> None:
    """Make and compress outside of the transaction, which others wait for."""
    if not isinstance(item.content, EndedSession | LateSession):
        return
    try:
        content = item.content
        item.packed = pack_session(content.make() if isinstance(content, LateSession) else content)
    except Exception as error:  # one session that cannot be packed must not cost the others
        item.error = error


def _run_of(item: _Item) -> int | None:
    """The run of a session that can be stored together with its neighbours."""
    if item.error is not None or item.packed is None:
        return None
    return item.packed.session.run_id


def _write_group(connection: Connection, items: Sequence[_Item]) -> None:
    """Sessions of one run at once, which costs half as much; one by one where any is refused."""
    sessions = [item.packed for item in items if item.packed is not None and item.error is None]
    if len(items) > 1 and len(sessions) == len(items):
        try:
            with connection.begin_nested():
                stored = write_sessions(connection, sessions)
        except OperationalError:
            raise
        except Exception:  # which of them it was, and why, is found one by one
            pass
        else:
            for item, ids in zip(items, stored, strict=True):
                item.ids = ids
            return
    for item in items:
        _write_item(connection, item)


def _write_item(connection: Connection, item: _Item) -> None:
    if item.error is not None:
        return
    try:
        with connection.begin_nested():
            if item.packed is not None:
                (item.ids,) = write_sessions(connection, [item.packed])
            elif not isinstance(item.content, EndedSession | LateSession):
                insert_rows(connection, item.content)
    except OperationalError:
        raise  # the database itself fails: nothing of this transaction stands
    except Exception as error:  # one row that cannot be stored must not cost the others
        item.error = error


def _fill_in_ids(item: _Item) -> None:
    if item.ids is None or item.packed is None:
        return
    item.packed.session.id = item.ids.session_id
    for turn, turn_id in zip(item.packed.turns, item.ids.turn_ids, strict=True):
        turn.id = turn_id
        turn.session_id = item.ids.session_id
