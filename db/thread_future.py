"""Waits in an event loop for what a thread will settle, and leaves it alone where the wait ends."""

import asyncio
import contextlib
from concurrent.futures import Future
from typing import Any


async def is_settled(future: "Future[Any]", *, within_s: float) -> bool:
    """Whether it had a result or an error in time.

    `asyncio.wrap_future`, shielded and with a timeout, does the same in ten times the time, which
    hundreds of sessions that end each second would notice.
    """
    loop = asyncio.get_running_loop()
    woken: asyncio.Future[None] = loop.create_future()

    def wake() -> None:
        if not woken.done():
            woken.set_result(None)

    def hear(_: "Future[Any]") -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended before
            loop.call_soon_threadsafe(wake)

    timer = loop.call_later(within_s, wake)
    future.add_done_callback(hear)
    try:
        await woken
    finally:
        timer.cancel()
    return future.done()
