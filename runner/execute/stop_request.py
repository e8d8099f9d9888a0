"""How a person or a signal ends a campaign: first after the sessions in flight, then at once."""

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from runner.event_loop import end_task

T = TypeVar("T")

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CUT_BY_ASKING = "stopped at once by the user"
CUT_BY_TIME = "stopped at once: the time that was given is over"


class StoppedEarlyError(Exception):
    """A stop was asked for before there was any session in flight to wait for."""


class StopRequest:
    """`soft` is set by the first request; the second cancels the task that `bind` named.

    `soft` may also be set because the time is over; then nobody asked. `cut_reason` says who had
    the task cancelled, None where it was not done here. `emergencies` end, from any thread and at
    once, what must not outlive this process.
    """

    def __init__(self) -> None:
        self.soft = asyncio.Event()
        self.was_asked = False
        self.cut_reason: str | None = None
        self.emergencies: list[Callable[[], None]] = []
        self._task: asyncio.Task[object] | None = None
        self._part: StopRequest | None = None

    def bind(self, task: "asyncio.Task[object]") -> None:
        self._task = task

    def ask(self) -> None:
        self.was_asked = True
        self._stop(at_once=self.soft.is_set(), because=CUT_BY_ASKING)

    def spend(self, at_once: bool) -> None:
        """The time is over."""
        self._stop(at_once=at_once, because=CUT_BY_TIME)

    def _stop(self, *, at_once: bool, because: str) -> None:
        self.soft.set()
        if at_once:
            self.cut_reason = self.cut_reason or because
        if self._part is not None:
            self._part.was_asked = self._part.was_asked or self.was_asked
            self._part._stop(at_once=at_once, because=because)
        if at_once and self._task is not None:
            self._task.cancel()

    @contextmanager
    def part(self) -> "Iterator[StopRequest]":
        """For one piece of the work: it ends with the whole, and can be stopped alone."""
        part = StopRequest()
        part.emergencies = self.emergencies  # the process ends as a whole
        if self.soft.is_set():
            part.soft.set()
        self._part = part
        try:
            yield part
        finally:
            self._part = None


async def unless_stopped(work: Coroutine[Any, Any, T], stop: StopRequest) -> T:
    """What `work` returns. Raises StoppedEarlyError, and cancels it, where a stop comes first."""
    working = asyncio.ensure_future(work)
    asked = asyncio.ensure_future(stop.soft.wait())
    try:
        await asyncio.wait([working, asked], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise StoppedEarlyError
        return working.result()
    finally:
        await asyncio.gather(end_task(working), end_task(asked))


@contextmanager
def stopping_on_signals(
    stop: StopRequest, *, said: Callable[[str], None], is_supervised: bool = False
) -> Iterator[None]:
    """While open, the signals of a closing terminal or a stopped service ask for a stop.

    `is_supervised`: they are our supervisor's, which has told who asked, and for what.
    """
    loop = asyncio.get_running_loop()

    def on_signal(number: signal.Signals) -> None:
        is_second = stop.soft.is_set()
        stop.ask()
        if is_supervised:
            if is_second:
                said("stopping at once")
            return
        said(
            f"{number.name} again: stopping at once"
            if is_second
            else f"{number.name}: stopping after the sessions in flight; once more stops at once"
        )

    for number in SIGNALS:
        loop.add_signal_handler(number, on_signal, number)
    try:
        yield
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)
