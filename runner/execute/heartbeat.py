"""Says in the store, every two seconds, that this worker lives and what it is at."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from db.errors import StoreError
from db.stack_lease import Holder
from db.store import Store
from db.workers import HEARTBEAT_S, worker_beat, worker_ended, worker_started
from runner.event_loop import end_task
from runner.execute.off_loop import off_loop


@asynccontextmanager
async def heartbeat(
    store: Store, holder: Holder, *, doing: Callable[[], str | None]
) -> AsyncIterator[None]:
    """The worker counts as alive while this is open, and says goodbye at its end.

    A beat that the store does not take, locked or full, is left out.
    """
    await off_loop(
        worker_started, store, holder.name, process_id=holder.process_id, host=holder.host
    )

    async def beat() -> None:
        while True:
            with suppress(StoreError):
                await asyncio.to_thread(worker_beat, store, holder.name, doing=doing())
            await asyncio.sleep(HEARTBEAT_S)

    task = asyncio.create_task(beat(), name="heartbeat")
    try:
        yield
    finally:
        await end_task(task)
        with suppress(StoreError):
            await off_loop(worker_ended, store, holder.name)
