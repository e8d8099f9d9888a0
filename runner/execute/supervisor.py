"""Keeps a dashboard and a worker running under one clean stop."""

import contextlib
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from runner.control.parent_death import ending_with_parent
from runner.errors import SupervisedProcessError

POLL_S = 0.3
WORKER_GRACE_S = 300.0
DASHBOARD_GRACE_S = 5.0
REAP_DEADLINE_S = 5.0
MAX_RESTARTS = 5
SUPERVISED_VARIABLE = "DECISIVE_SUPERVISED"  # set for what we start: we say who asked for a stop


@dataclass(frozen=True, slots=True)
class SupervisedCommand:
    """`grace_s` is how long it may take to end after it was asked to.

    `is_heard`: what it writes to its standard output is for our user, and not only its errors.
    """

    name: str
    argv: Sequence[str]
    grace_s: float
    restarts: bool
    is_heard: bool = True


class Supervisor:
    """Starts the commands in order; each in a process group of its own, so that a Ctrl-C of the
    terminal reaches us alone and we decide what ends first. A kill of ours asks them all to end.
    """

    def __init__(
        self,
        commands: Sequence[SupervisedCommand],
        *,
        env: Mapping[str, str],
        tell: Callable[[str], None],
    ) -> None:
        self._commands = commands
        self._env = env
        self._tell = tell
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._restarts = dict.fromkeys((command.name for command in commands), 0)
        self._stop = threading.Event()
        self._asked = 0

    def start(self) -> None:
        for command in self._commands:
            self._start(command)

    def ask_to_stop(self) -> None:
        """The first request ends everything in order; a second one at once."""
        self._asked += 1
        self._stop.set()
        if self._asked > 1:
            for process in self._running.values():
                _signal(process, signal.SIGTERM)

    def wait(self) -> None:
        """Until told to stop. A command that ends is started again, or ends everything.

        Raises SupervisedProcessError where one that must run cannot be kept running.
        """
        while not self._stop.wait(POLL_S):
            for command in self._commands:
                status = self._running[command.name].poll()
                if status is not None:
                    self._replace(command, status)

    def stop(self) -> None:
        """Ends the commands in the reverse order, each within its grace. Safe to call twice."""
        for command in reversed(self._commands):
            process = self._running.get(command.name)
            if process is None or process.poll() is not None:
                continue
            _signal(process, signal.SIGTERM)
            try:
                process.wait(timeout=command.grace_s)
            except subprocess.TimeoutExpired:
                self._tell(f"{command.name} did not end within {command.grace_s:g} s: killed")
                _signal(process, signal.SIGKILL)
                with contextlib.suppress(subprocess.TimeoutExpired):  # it waits in the kernel
                    process.wait(timeout=REAP_DEADLINE_S)

    def _start(self, command: SupervisedCommand) -> None:
        self._running[command.name] = subprocess.Popen(
            list(command.argv),
            env={**self._env, SUPERVISED_VARIABLE: "1"},
            stdin=subprocess.DEVNULL,
            stdout=None if command.is_heard else subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=ending_with_parent(),
        )

    def _replace(self, command: SupervisedCommand, status: int) -> None:
        self._restarts[command.name] += 1
        if not command.restarts or self._restarts[command.name] > MAX_RESTARTS:
            raise SupervisedProcessError(f"the {command.name} ended with status {status}")
        self._tell(f"the {command.name} ended with status {status}: started again")
        self._start(command)


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    if process.poll() is None:
        process.send_signal(number)
