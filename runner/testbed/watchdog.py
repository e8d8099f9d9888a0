"""SGLang's watchdogs: they fire when one step of the scheduler takes too long.

The soft one writes a line and goes on, the hard one writes it and ends the process. A scheduler
that steps is fine for both, whatever is stuck in its queues: a wedge of transfers fires neither.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from runner.testbed import log_lines

_CHECKS_PER_TIMEOUT = 10


@dataclass(slots=True)
class StepPulse:
    """`step`: how many have begun; `since_s`: when the one in progress did, None between steps."""

    step: int = 0
    since_s: float | None = None

    def begin(self, now_s: float) -> None:
        self.step += 1
        self.since_s = now_s

    def end(self) -> None:
        self.since_s = None


class Watchdog:
    """`fire` is called once for each step that has taken `timeout_s`."""

    def __init__(self, pulse: StepPulse, timeout_s: float, fire: Callable[[], None]) -> None:
        self._pulse = pulse
        self._timeout_s = timeout_s
        self._fire = fire
        self._fired_at_step = 0

    def check(self, now_s: float) -> None:
        since_s, step = self._pulse.since_s, self._pulse.step
        if since_s is None or step == self._fired_at_step or now_s - since_s < self._timeout_s:
            return
        self._fired_at_step = step
        self._fire()

    def run(self, clock: Callable[[], float], stopped: threading.Event) -> None:
        """Check until stopped; to be called in a thread of its own."""
        while not stopped.wait(self._timeout_s / _CHECKS_PER_TIMEOUT):
            self.check(clock())


@dataclass(frozen=True, slots=True)
class WatchdogTimeouts:
    """Seconds; None: no such watchdog."""

    hard_s: float | None
    soft_s: float | None


def make_watchdogs(
    pulse: StepPulse,
    timeouts: WatchdogTimeouts,
    *,
    log: Callable[[str], None],
    kill: Callable[[], None],
) -> list[Watchdog]:
    """A soft and a hard one, as far as they are wanted."""
    dogs = []
    if timeouts.soft_s is not None:
        soft_s = timeouts.soft_s
        dogs.append(
            Watchdog(pulse, soft_s, lambda: log(log_lines.watchdog_timeout(soft_s, soft=True)))
        )
    if timeouts.hard_s is not None:
        hard_s = timeouts.hard_s

        def bite() -> None:
            log(log_lines.watchdog_timeout(hard_s, soft=False))
            log(log_lines.sigquit_received())
            kill()

        dogs.append(Watchdog(pulse, hard_s, bite))
    return dogs
