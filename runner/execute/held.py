"""Goes on with something only as long as it can be renewed."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from db.errors import StoreLockedError
from runner.event_loop import end_task

T = TypeVar("T")


def _unheard(_: object) -> None:
    """Nobody wants to know what a renewal answered."""


@asynccontextmanager
async def held_by(
    renew: Callable[[], T], *, every_s: float, heard: Callable[[T], None] = _unheard
) -> AsyncIterator[None]:
    """Calls `renew` in a thread again and again while open; what it raises ends the body.

    `heard` is told on the event loop what a renewal answered. The body is cancelled with the
    sentence of the error, which is then raised here; one that was cancelled by somebody else stays
    cancelled. A locked store is asked again: nobody can have taken over in it meanwhile.
    """
    body = asyncio.current_task()
    assert body is not None
    failure: list[Exception] = []

    async def go_on_renewing() -> None:
        while True:
            await asyncio.sleep(every_s)
            try:
                heard(await asyncio.to_thread(renew))
            except StoreLockedError:
                continue
            except Exception as error:
                failure.append(error)
                body.cancel(f"cut short by ourselves: {error}")
                return

    renewing = asyncio.create_task(go_on_renewing(), name="renewal")
    try:
        yield
    except asyncio.CancelledError:
        if failure and body.uncancel() == 0:
            raise failure[0] from None
        raise
    finally:
        await end_task(renewing)
