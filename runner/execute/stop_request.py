"""How a person or a signal ends a campaign: first after the sessions in flight, then at once."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequest:
    """`soft` is set by the first request; the second cancels the task that `bind` named.

    `soft` may also be set because the time is over; then nobody asked. `emergencies` end, from any
    thread and at once, what must not outlive this process.
    """

    def __init__(self) -> None:
        self.soft = asyncio.Event()
        self.was_asked = False
        self.emergencies: list[Callable[[], None]] = []
        self._task: asyncio.Task[object] | None = None

    def bind(self, task: "asyncio.Task[object]") -> None:
        self._task = task

    def ask(self) -> None:
        if self.soft.is_set() and self._task is not None:
            self._task.cancel()
        self.was_asked = True
        self.soft.set()

    def spend(self, at_once: bool) -> None:
        """The time is over."""
        self.soft.set()
        if at_once and self._task is not None:
            self._task.cancel()


@contextmanager
def stopping_on_signals(stop: StopRequest, *, said: Callable[[str], None]) -> Iterator[None]:
    """While open, the signals of a closing terminal or a stopped service ask for a stop."""
    loop = asyncio.get_running_loop()

    def on_signal(number: signal.Signals) -> None:
        is_second = stop.soft.is_set()
        stop.ask()
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
