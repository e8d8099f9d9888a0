"""An event loop whose clock jumps to the next timer instead of waiting for it."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class FastForwardLoop(asyncio.SelectorEventLoop):
    """Time passes only when nothing is left to do; sockets are not waited for."""

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        return self._now

    def jump(self, seconds: float) -> None:
        self._now += seconds


def run_in_no_time(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """What the coroutine returns; its sleeps and time-outs take their time on the loop's clock."""
    with asyncio.Runner(loop_factory=FastForwardLoop) as runner:
        return runner.run(coroutine)


class LoopClock:
    """A `db.clock.Clock` that goes with the running loop, from a fixed moment on."""

    def utc_us(self) -> int:
        return 1_700_000_000_000_000 + round(self.monotonic_s() * 1_000_000)

    def monotonic_s(self) -> float:
        return asyncio.get_running_loop().time()


class _JumpingSelector(selectors.DefaultSelector):
    def __init__(self, loop: FastForwardLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(0)
        if not ready and timeout:
            self._loop.jump(timeout)
        if not ready and timeout is None:
            raise AssertionError("the test waits for something that no timer will bring")
        return ready
