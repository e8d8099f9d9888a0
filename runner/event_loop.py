"""Runs a coroutine on uvloop where there is one: each read of a stream costs half as much on it."""

import asyncio
import gc
import sys
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

try:
    import uvloop
except ImportError:  # not every platform has it
    _new_loop: Callable[[], asyncio.AbstractEventLoop] | None = None
else:
    _new_loop = uvloop.new_event_loop

CANCEL_DEADLINE_S = 30.0
_HAND_OVER_S = 0.001  # 5 ms by default
_YOUNG_OBJECTS = 70_000  # 700 by default: hundreds of streams would have garbage looked for all day
_Result = TypeVar("_Result")


def run_on_loop(main: Coroutine[Any, Any, _Result]) -> _Result:
    """Like `asyncio.run`; garbage is collected less often, since each time stops all streams.

    A thread that parses hands the interpreter over after a millisecond: each read of a stream may
    have to wait for it several times.
    """
    sys.setswitchinterval(_HAND_OVER_S)
    gc.freeze()  # what is loaded by now stays: it need not be looked at again
    gc.set_threshold(_YOUNG_OBJECTS, 10, 100)
    with asyncio.Runner(loop_factory=_new_loop) as runner:
        return runner.run(main)


async def end_task(task: "asyncio.Future[Any]", *, deadline_s: float = CANCEL_DEADLINE_S) -> None:
    """Cancels it and waits until it has ended, however it does; raises nothing of it.

    One that does not heed its cancellation is left behind at the deadline.
    """
    task.cancel()
    await asyncio.wait([task], timeout=deadline_s)
