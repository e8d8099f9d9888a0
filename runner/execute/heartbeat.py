"""Says in the store, every two seconds, that this worker lives and what it is at."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from db.stack_lease import Holder
from db.store import Store
from db.workers import HEARTBEAT_S, worker_beat, worker_ended, worker_started


@asynccontextmanager
async def heartbeat(
    store: Store, holder: Holder, *, doing: Callable[[], str | None]
) -> AsyncIterator[None]:
    """The worker counts as alive while this is open, and says goodbye at its end."""
    worker_started(store, holder.name, process_id=holder.process_id, host=holder.host)

    async def beat() -> None:
        while True:
            worker_beat(store, holder.name, doing=doing())
            await asyncio.sleep(HEARTBEAT_S)

    task = asyncio.create_task(beat(), name="heartbeat")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
        worker_ended(store, holder.name)
