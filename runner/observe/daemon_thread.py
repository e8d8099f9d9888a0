"""Runs blocking work beside the event loop in a thread that cannot keep the process from ending."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")


def in_daemon_thread(work: Callable[[], Answer], *, name: str) -> "asyncio.Future[Answer]":
    """What `work` returns or raises. A thread that never comes back is left behind.

    The loop's own executor is joined at the end of the program: a read from a dead network disk
    would hold that up for ever.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[Answer] = loop.create_future()

    def settle(result: Answer | None, error: BaseException | None) -> None:
        if answer.done():
            return
        if error is not None:
            answer.set_exception(error)
        else:
            answer.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result: Answer | None = None
        error: BaseException | None = None
        try:
            result = work()
        except BaseException as raised:
            error = raised
        # The loop may have ended meanwhile, and nobody waits any more.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return answer
