"""Runs what waits for the store in a thread, so that no stream waits with it."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from db.errors import StoreAccessError, StoreLockedError
from runner.observe.daemon_thread import in_daemon_thread

P = ParamSpec("P")
T = TypeVar("T")

ATTEMPTS_WHEN_LOCKED = 4
STORE_DEADLINE_S = 300.0
"""Above what a locked store takes to say so as often as it is asked."""


async def off_loop(
    write: Callable[P, T],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """What `write` returns or raises; a locked store is asked a few times.

    Raises StoreAccessError where there is no answer at all within `STORE_DEADLINE_S`: a disk that
    hangs must not hang us. What was begun is waited for even by a caller that is cancelled: it
    would else happen later, in another order. `write` must be one transaction, so that a locked
    store has seen nothing of it.
    """
    writing = in_daemon_thread(
        lambda: _patiently(lambda: write(*args, **kwargs)), name="store write"
    )
    try:
        await asyncio.wait([writing], timeout=STORE_DEADLINE_S)
    except asyncio.CancelledError:
        await asyncio.wait([writing], timeout=STORE_DEADLINE_S)
        if writing.done():
            writing.exception()
        raise
    if not writing.done():
        raise StoreAccessError(
            f"the store has not answered for {STORE_DEADLINE_S:g} s: look at its disk or server, "
            "then give the same command again"
        )
    return writing.result()


def _patiently(write: Callable[[], T]) -> T:
    for _ in range(ATTEMPTS_WHEN_LOCKED - 1):
        try:
            return write()
        except StoreLockedError:
            continue
    return write()
