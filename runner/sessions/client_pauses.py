"""Measures what holds our own client up from within: its garbage collector, its busy event loop.

Both measure only while they are open, and judge nothing.
"""

import asyncio
import contextlib
import gc
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PROBE_EVERY_S = 0.1


class CollectorPauses:
    """How long the whole process stood still for each collection, in seconds."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._began_s: float | None = None
        self.pauses_s: list[float] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        gc.callbacks.append(self.note)
        try:
            yield
        finally:
            gc.callbacks.remove(self.note)

    def note(self, phase: str, _: object) -> None:
        """Called by the collector: "start", then "stop"."""
        if phase == "start":
            self._began_s = self._clock()
        elif self._began_s is not None:
            self.pauses_s.append(self._clock() - self._began_s)
            self._began_s = None


class DispatchProbe:
    """How long the event loop takes to do what a thread asks of it, in seconds.

    Unlike a nap of the loop's own it also sees a loop that is busy with others' callbacks.
    """

    def __init__(
        self, *, every_s: float = PROBE_EVERY_S, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._every_s = every_s
        self._clock = clock
        self.delays_s: list[float] = []

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Within a running loop."""
        loop, done = asyncio.get_running_loop(), threading.Event()
        thread = threading.Thread(
            target=self._probe, args=(loop, done), name="dispatch probe", daemon=True
        )
        thread.start()
        try:
            yield
        finally:
            done.set()

    def _probe(self, loop: asyncio.AbstractEventLoop, done: threading.Event) -> None:
        heard = threading.Event()

        def hear(asked_s: float) -> None:
            self.delays_s.append(self._clock() - asked_s)
            heard.set()

        # One question at a time; the loop may end before it answers.
        with contextlib.suppress(RuntimeError):
            while not done.wait(self._every_s):
                heard.clear()
                loop.call_soon_threadsafe(hear, self._clock())
                while not heard.wait(self._every_s) and not done.is_set():
                    continue
