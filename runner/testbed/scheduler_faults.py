"""Faults of the scheduler itself: it stands still in the middle of a batch, or its process dies.

They are counted in steps that did something, so that they come at the same place in every run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from runner.testbed.launch_options import LaunchOptions


class SchedulerDiedError(Exception):
    """The exception that the fault `--die-after-steps` lets the scheduler hit."""


class SchedulerFaults:
    """`kill` ends the process as SIGKILL does: without a last word."""

    def __init__(self, options: LaunchOptions, *, kill: Callable[[], None]) -> None:
        self._stall_after = options.stall_scheduler_after_steps
        self._stall_s = options.stall_scheduler_s
        # On the side that is to die; in one process that is either.
        dies = options.disaggregation_mode in ("null", options.die_side)
        self._die_after = options.die_after_steps if dies else None
        self._die_as = options.die_as
        self._kill = kill
        self._steps = 0

    def step_done(self) -> None:
        """Another step has done something."""
        self._steps += 1

    def strike(self, stopped: threading.Event) -> None:
        """What happens to the step that has begun. `stopped` ends a stall early."""
        if self._steps == self._die_after:
            self._die()
        if self._steps == self._stall_after:
            self._stall_after = None
            stopped.wait(self._stall_s)

    def _die(self) -> None:
        self._die_after = None
        if self._die_as == "killed":
            self._kill()
        else:
            raise SchedulerDiedError(f"--die-after-steps {self._steps}")
