"""Goes on with something only as long as it can be renewed."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


@asynccontextmanager
async def held_by(renew: Callable[[], None], *, every_s: float) -> AsyncIterator[None]:
    """Calls `renew` again and again while open; what it raises ends the body and is raised here.

    A body that was cancelled by somebody else stays cancelled.
    """
    body = asyncio.current_task()
    assert body is not None
    failure: list[Exception] = []

    async def go_on_renewing() -> None:
        while True:
            await asyncio.sleep(every_s)
            try:
                renew()
            except Exception as error:
                failure.append(error)
                body.cancel()
                return

    renewing = asyncio.create_task(go_on_renewing(), name="renewal")
    try:
        yield
    except asyncio.CancelledError:
        if failure and body.uncancel() == 0:
            raise failure[0] from None
        raise
    finally:
        renewing.cancel()
        await asyncio.wait([renewing])
