"""Starts, watches and ends one service as a child process; knows not what the service does."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runner.errors import StackStartError

STOP_GRACE_S = 5.0
_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class ProcessMark:
    """Names one process for good: a pid is reused, a pid with its start time is not."""

    pid: int
    start_ticks: int

    def to_json(self) -> dict[str, int]:
        return {"pid": self.pid, "start_ticks": self.start_ticks}

    @classmethod
    def from_json(cls, value: Mapping[str, int]) -> "ProcessMark":
        return cls(pid=int(value["pid"]), start_ticks=int(value["start_ticks"]))


class ServiceProcess:
    """One running service in its own process group, its output appended to `log_path`."""

    def __init__(self, child: subprocess.Popen[bytes], mark: ProcessMark, log_path: Path) -> None:
        self._child = child
        self.mark = mark
        self.log_path = log_path

    @property
    def exit_status(self) -> int | None:
        """The exit status, negative for a signal; None while it runs."""
        return self._child.poll()

    def stop(self, grace_s: float = STOP_GRACE_S) -> None:
        """Ends the whole process group: asks, waits `grace_s`, then kills. Safe to call twice."""
        _signal_group(self.mark.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(timeout=grace_s)
        _signal_group(self.mark.pid, signal.SIGKILL)
        # One that hangs inside a driver does not die even of this; waiting longer helps nobody.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(timeout=grace_s)


def start_process(
    argv: Sequence[str], *, env: Mapping[str, str], log_path: Path, cwd: Path | None = None
) -> ServiceProcess:
    """Starts `argv` with `env` added to our own environment.

    Raises StackStartError where the program does not exist or cannot be executed.
    """
    log_path.parent.mkdir(parents=True, exist_ok=True)
    with log_path.open("ab") as log:
        try:
            child = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **env},
                cwd=cwd,
                start_new_session=True,
            )
        except OSError as error:
            raise StackStartError(
                f"cannot start '{argv[0]}': {error.strerror}; check `command` in the stack file"
            ) from error
    return ServiceProcess(child, mark_of(child.pid) or ProcessMark(child.pid, 0), log_path)


def mark_of(pid: int) -> ProcessMark | None:
    """The mark of a process of this machine, or None where there is none (or no /proc)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The command name, in parentheses, may hold blanks and parentheses: fields count from its end.
    fields = stat.rpartition(")")[2].split()
    return ProcessMark(pid, int(fields[19]))


def end_left_over(mark: ProcessMark, *, grace_s: float = STOP_GRACE_S) -> bool:
    """Ends a service that a killed worker left behind; True where it was still there.

    A process that merely got the same pid later has another start time and is left alone.
    """
    if mark.start_ticks == 0 or mark_of(mark.pid) != mark:
        return False
    _signal_group(mark.pid, signal.SIGTERM)
    deadline = time.monotonic() + grace_s
    while mark_of(mark.pid) == mark and time.monotonic() < deadline:
        time.sleep(_POLL_S)
    _signal_group(mark.pid, signal.SIGKILL)
    return True


def _signal_group(pid: int, number: signal.Signals) -> None:
    try:
        os.killpg(pid, number)
    except ProcessLookupError:
        return
