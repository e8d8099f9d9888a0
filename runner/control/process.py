"""Starts, watches and ends one service as a child process; knows not what the service does."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from runner.control.process_group import (
    STOP_GRACE_S,
    ProcessMark,
    end_members,
    mark_of,
    members_of,
    signal_group,
)
from runner.errors import StackStartError

# Becomes the service once it is told to, and ends where whoever was to tell it is gone: a process
# that nobody has noted yet must not outlive us.
_GATE = 'read -r go && exec "$@" </dev/null'


class ServiceProcess:
    """One service in its own session, its output appended to `log_path`.

    It begins its work when it is released. Until then it has its pid, and ends with this process,
    whatever ends that.
    """

    has_changed = False  # it is ours alone

    def __init__(self, child: subprocess.Popen[bytes], mark: ProcessMark, log_path: Path) -> None:
        self._child = child
        self.mark = mark
        self.log_path = log_path

    @property
    def exit_status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._child.poll()

    def members(self) -> tuple[int, ...]:
        """The pids of the service and of all that it started."""
        return members_of(self.mark)

    def release(self) -> None:
        """Lets the service begin. Safe to call twice."""
        gate = self._child.stdin
        if gate is None or gate.closed:
            return
        with contextlib.suppress(BrokenPipeError), gate:
            gate.write(b"go\n")

    def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """Ends the service and all that it started: asks, waits `grace_s`, then kills.

        What outlived its leader is ended too. Safe to call twice.
        """
        if self.mark.start_ticks:
            end_members(self.mark, grace_s=grace_s)
        else:
            self._stop_group(grace_s)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(timeout=grace_s)
        if self._child.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._child.stdin.close()

    def _stop_group(self, grace_s: float) -> None:
        """Where there is no /proc to see members in."""
        signal_group(self.mark.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(timeout=grace_s)
        signal_group(self.mark.pid, signal.SIGKILL)


def hold_process(
    argv: Sequence[str], *, env: Mapping[str, str], log_path: Path, cwd: Path | None = None
) -> ServiceProcess:
    """A process that becomes `argv` when it is released, with `env` added to our own environment.

    Raises StackStartError where the program does not exist or cannot be executed, or where its log
    cannot be written.
    """
    whole_env = {**os.environ, **env}
    if shutil.which(argv[0], path=whole_env.get("PATH")) is None:
        raise StackStartError(
            f"cannot start '{argv[0]}': no such program that may be executed; "
            "check `command` in the stack file"
        )
    try:
        log_path.parent.mkdir(parents=True, exist_ok=True)
        with log_path.open("ab") as log:
            child = subprocess.Popen(
                ["/bin/sh", "-c", _GATE, "sh", *argv],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=whole_env,
                cwd=cwd,
                start_new_session=True,
            )
    except OSError as error:
        raise StackStartError(
            f"cannot start '{argv[0]}' with its log in {log_path}: {error.strerror}"
        ) from error
    return ServiceProcess(child, mark_of(child.pid) or ProcessMark(child.pid, 0), log_path)
