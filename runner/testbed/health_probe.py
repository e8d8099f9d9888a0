"""Whether the engine answers at all: what `/health` asks.

As with SGLang, a scheduler that steps is healthy, whatever is stuck in its transfer queues.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from runner.testbed import log_lines
from runner.testbed.engine_thread import EngineThread


class HealthProbe:
    """`wall` gives the times for the log line of a probe that got no answer in `timeout_s`."""

    def __init__(
        self,
        thread: EngineThread,
        timeout_s: float,
        *,
        log: Callable[[str], None],
        wall: Callable[[], float],
    ) -> None:
        self._thread = thread
        self._timeout_s = timeout_s
        self._log = log
        self._wall = wall
        self._last_answer_s = wall()

    async def is_healthy(self) -> bool:
        if not self._thread.is_alive:
            return False
        asked_s = self._wall()
        answer = asyncio.wrap_future(self._thread.ask(lambda: None))
        try:
            await asyncio.wait_for(answer, self._timeout_s)
        except TimeoutError:
            self._log(
                log_lines.health_check_failed(
                    timeout_s=self._timeout_s,
                    asked=_time_of_day(asked_s),
                    last_heartbeat=_time_of_day(self._last_answer_s),
                )
            )
            return False
        self._last_answer_s = self._wall()
        return True


def _time_of_day(at_s: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at_s))
