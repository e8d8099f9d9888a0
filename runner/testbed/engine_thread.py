"""Runs an engine in a thread of its own; commands go in by a mailbox, events come out in batches.

It decides when to step and when to wait; what a step does is the engine's matter.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Protocol, TypeVar

from runner.testbed.generation import GenerationEvent
from runner.testbed.scheduler_faults import SchedulerFaults
from runner.testbed.watchdog import StepPulse

_IDLE_REPORT_AFTER_S = 1.0
_SHORTEST_WAIT_S = 0.005
_STOP_DEADLINE_S = 60.0
Answer = TypeVar("Answer")


class SteppedEngine(Protocol):
    """What the thread needs of an engine, whichever side it is."""

    made_progress: bool

    @property
    def is_idle(self) -> bool: ...

    def step(self) -> list[GenerationEvent]: ...

    def next_deadline_s(self) -> float | None: ...

    def publish_gauges(self) -> None: ...


class EngineThread:
    """`deliver` is called in the engine's thread, once a step, with all events of that step.

    `on_crash` is called there too, with what the engine died of; after it nothing moves any more.
    """

    def __init__(
        self,
        engine: SteppedEngine,
        *,
        clock: Callable[[], float],
        deliver: Callable[[list[GenerationEvent]], None],
        on_crash: Callable[[Exception], None],
        faults: SchedulerFaults | None = None,
    ) -> None:
        self._engine = engine
        self._clock = clock
        self._deliver = deliver
        self._on_crash = on_crash
        self._mailbox: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._gauges_are_fresh = False
        self._faults = faults
        self._stopped = threading.Event()
        self.pulse = StepPulse()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends after the step in progress; what is still open is dropped."""
        self._stopped.set()
        self._mailbox.put(None)
        self._thread.join(timeout=_STOP_DEADLINE_S)

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def post(self, command: Callable[[], object]) -> None:
        """Have something done between two steps."""
        self._mailbox.put(command)

    def ask(self, question: Callable[[], Answer]) -> Future[Answer]:
        """Have something answered between two steps, unless nobody waits for it any more."""
        answer: Future[Answer] = Future()

        def reply() -> None:
            if answer.set_running_or_notify_cancel():
                answer.set_result(question())

        self._mailbox.put(reply)
        return answer

    def _run(self) -> None:
        try:
            while self._obey(wait_s=self._patience_s()):
                events = self._step()
                if events:
                    self._deliver(events)
        except Exception as error:
            self._on_crash(error)

    def _step(self) -> list[GenerationEvent]:
        self.pulse.begin(self._clock())
        if self._faults is not None:
            self._faults.strike(self._stopped)
        events = self._engine.step()
        self.pulse.end()
        if self._faults is not None and self._engine.made_progress:
            self._faults.step_done()
        return events

    def _patience_s(self) -> float | None:
        """How long to wait for a command: not at all while steps do anything."""
        if self._engine.made_progress:
            self._gauges_are_fresh = False
            return 0.0
        deadline_s = self._engine.next_deadline_s()
        if deadline_s is not None:
            return max(_SHORTEST_WAIT_S, deadline_s - self._clock())
        return None if self._gauges_are_fresh else _IDLE_REPORT_AFTER_S

    def _obey(self, wait_s: float | None) -> bool:
        """Carry out the commands that are there, waiting for the first; False when told to stop."""
        try:
            command = (
                self._mailbox.get(timeout=wait_s) if wait_s != 0 else self._mailbox.get_nowait()
            )
            while command is not None:
                command()
                command = self._mailbox.get_nowait()
        except queue.Empty:
            if wait_s == _IDLE_REPORT_AFTER_S and self._engine.is_idle:
                self._engine.publish_gauges()
                self._gauges_are_fresh = True
            return True
        return False
