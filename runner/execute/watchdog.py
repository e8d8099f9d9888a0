"""Ends a process that its event loop cannot end any more; it runs in a thread of its own.

Two things wake it: a budget that is spent, and an event loop that does not react. It asks first,
then insists, then ends the process, services included.
"""

import asyncio
import contextlib
import faulthandler
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from runner.execute.stop_request import StopRequest

STATUS_OF_A_HARD_END = 4
GRACE_S = 30.0
_TICK_S = 0.25
_MOST_OF_A_TICK_S = 1.0


@dataclass(frozen=True, slots=True)
class WatchdogPatience:
    """Seconds. After the budget the sessions in flight may end for `grace_s`, then are cut; after
    `insist_s` more the process is ended from outside. A loop that is held up for `stuck_s` has its
    stacks written to a file, one that is held up for `dead_s` has its process ended.
    """

    budget_s: float | None = None
    grace_s: float = GRACE_S
    insist_s: float = 30.0
    stuck_s: float = 20.0
    dead_s: float = 300.0


@dataclass(slots=True)
class Watchdog:
    """`said` and `hard_end` are called from the watchdog's thread, `stop` through the loop."""

    patience: WatchdogPatience
    stop: StopRequest
    said: Callable[[str], None]
    hard_end: Callable[[], None]
    clock: Callable[[], float] = time.monotonic
    budget_spent: bool = False
    _loop: asyncio.AbstractEventLoop | None = None
    _began_s: float = field(init=False)
    _ticked_s: float = field(init=False)
    _silent_s: float = 0.0
    _asked: int = 0
    _has_dumped: bool = False

    def __post_init__(self) -> None:
        self._began_s = self._ticked_s = self.clock()

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """The loop to listen to from now on."""
        self._loop = loop

    def tick(self) -> None:
        """One look at the clock and at the loop. Does not return where it ends the process."""
        now_s = self.clock()
        if self._loop is not None and not self._loop.is_closed():
            # A tick that comes late itself was held up with the loop: the process was stopped.
            self._silent_s += min(now_s - self._ticked_s, _MOST_OF_A_TICK_S)
            self._listen(self._loop)
        self._ticked_s = now_s
        self._look_at_loop()
        self._keep_budget()

    def _look_at_loop(self) -> None:
        silent_s = self._silent_s
        if silent_s >= self.patience.dead_s:
            self._end_hard(f"the event loop was held up for {silent_s:.0f} s")
        elif silent_s >= self.patience.stuck_s and not self._has_dumped:
            self._has_dumped = True
            path = dump_stacks()
            self.said(f"the event loop is held up since {silent_s:.0f} s; its stacks are in {path}")
        elif silent_s < self.patience.stuck_s:
            self._has_dumped = False

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        # A loop may close at this very moment.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._heard)

    def _heard(self) -> None:
        self._silent_s = 0.0

    def _keep_budget(self) -> None:
        budget_s = self.patience.budget_s
        if budget_s is None:
            return
        over_s = self.clock() - self._began_s - budget_s
        if over_s >= 0 and self._asked == 0:
            self.budget_spent = True
            self._ask("the budget is spent: stopping after the sessions in flight")
        elif over_s >= self.patience.grace_s and self._asked == 1:
            self._ask(f"sessions in flight had {self.patience.grace_s:g} s: stopping at once")
        elif over_s >= self.patience.grace_s + self.patience.insist_s:
            self._end_hard(f"nothing stopped within {over_s:.0f} s of the budget's end")

    def _ask(self, why: str) -> None:
        self._asked += 1
        self.said(why)
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self.stop.spend, self._asked > 1)

    def _end_hard(self, why: str) -> None:
        self.said(f"{why}: ending the process; stacks are in {dump_stacks()}")
        self.hard_end()


def dump_stacks() -> Path:
    """Where every thread of this process stands, in a new file."""
    handle, name = tempfile.mkstemp(prefix="decisive-stacks-", suffix=".txt")
    try:
        faulthandler.dump_traceback(file=handle, all_threads=True)
    finally:
        os.close(handle)
    return Path(name)


@contextmanager
def guarded(
    stop: StopRequest, *, patience: WatchdogPatience, said: Callable[[str], None]
) -> Iterator[Watchdog]:
    """While open, a thread ticks four times a second; the process ends with status 4 if it must.

    Open it around the whole event loop, whose end may hang too, and `attach` the loop inside.
    """

    def end_process() -> None:
        for end in stop.emergencies:
            end()
        os._exit(STATUS_OF_A_HARD_END)

    watchdog = Watchdog(patience, stop, said, end_process)
    done = threading.Event()

    def tick_until_done() -> None:
        while not done.wait(_TICK_S):
            watchdog.tick()

    thread = threading.Thread(target=tick_until_done, name="watchdog", daemon=True)
    thread.start()
    try:
        yield watchdog
    finally:
        done.set()
        thread.join(_TICK_S + _MOST_OF_A_TICK_S)
