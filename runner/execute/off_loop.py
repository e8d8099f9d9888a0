"""Runs what waits for the store in a thread, so that no stream waits with it."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from db.errors import StoreLockedError

P = ParamSpec("P")
T = TypeVar("T")

ATTEMPTS_WHEN_LOCKED = 4


async def off_loop(
    write: Callable[P, T],
    /,
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """What `write` returns or raises; a locked store is asked a few times.

    What was begun is waited for even by a caller that is cancelled: it would else happen later, in
    another order. `write` must be one transaction, so that a locked store has seen nothing of it.
    """
    writing = asyncio.ensure_future(asyncio.to_thread(_patiently, lambda: write(*args, **kwargs)))
    try:
        return await asyncio.shield(writing)
    except asyncio.CancelledError:
        await asyncio.wait([writing])
        if not writing.cancelled():
            writing.exception()
        raise


def _patiently(write: Callable[[], T]) -> T:
    for _ in range(ATTEMPTS_WHEN_LOCKED - 1):
        try:
            return write()
        except StoreLockedError:
            continue
    return write()
