"""Runs the commands of controllers: really, or only telling them (`--dry-run`).

Every command is a list of words; no shell of this machine reads them.
"""

import contextlib
import os
import shlex
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from runner.control.command_output import exchange
from runner.control.process import hold_process
from runner.control.process_group import ProcessMark
from runner.errors import StackControlError

COMMAND_DEADLINE_S = 60.0
REAP_DEADLINE_S = 2.0
MOST_OUTPUT_BYTES = 4 * 1024 * 1024
_SHOWN_OUTPUT = 400


class Completed(NamedTuple):
    """How a command ended, and what it wrote."""

    status: int
    stdout: str
    stderr: str


class RunningService(Protocol):
    """One service that we control, from before it begins to its end."""

    @property
    def mark(self) -> ProcessMark | None:
        """Names its process where that is a child of ours."""
        ...

    @property
    def log_path(self) -> Path | None:
        """Where its output is kept, where we keep it."""
        ...

    @property
    def exit_status(self) -> int | None:
        """None while it runs, as far as is known."""
        ...

    @property
    def has_changed(self) -> bool:
        """Whether something that was there before may be other than it was found."""
        ...

    def members(self) -> tuple[int, ...]: ...

    def release(self) -> None:
        """Lets it begin. Raises StackControlError."""
        ...

    def stop(self, grace_s: float = ...) -> None:
        """Ends it. Safe to call twice. Raises StackControlError."""
        ...


class Machine(Protocol):
    """What controllers act through."""

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        changes: bool = False,
        deadline_s: float = COMMAND_DEADLINE_S,
    ) -> Completed:
        """Runs a command to its end. `changes`: it changes something.

        Raises StackControlError where it cannot be started or has no end in time.
        """
        ...

    def hold(
        self, argv: Sequence[str], *, env: Mapping[str, str], log_path: Path
    ) -> RunningService:
        """A child process that begins when it is released. Raises StackStartError."""
        ...


class RealMachine:
    """Does what it is told."""

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        changes: bool = False,
        deadline_s: float = COMMAND_DEADLINE_S,
    ) -> Completed:
        try:
            child = subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise StackControlError(f"cannot run {shown(argv)}: {error.strerror}") from error
        try:
            stdout, stderr = exchange(
                child, stdin, deadline_s=deadline_s, most_bytes=MOST_OUTPUT_BYTES
            )
        except subprocess.TimeoutExpired:
            raise StackControlError(f"{shown(argv)} had no end within {deadline_s:g} s") from None
        finally:
            _end(child)
        return Completed(child.returncode, stdout.text, stderr.text)

    def hold(
        self, argv: Sequence[str], *, env: Mapping[str, str], log_path: Path
    ) -> RunningService:
        return hold_process(argv, env=env, log_path=log_path)


def _end(child: "subprocess.Popen[bytes]") -> None:
    """Its output is not waited for: what it has left behind may keep that open for ever."""
    if child.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=REAP_DEADLINE_S)
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):  # it may not have read all that it was told
                pipe.close()


class RehearsedMachine:
    """Tells what would be done and does nothing; every command ends well and says nothing."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        changes: bool = False,
        deadline_s: float = COMMAND_DEADLINE_S,
    ) -> Completed:
        self._say(f"{'run' if changes else 'ask'}  {shlex.join(argv)}")
        for line in stdin.decode("utf-8", errors="replace").splitlines():
            self._say(f"     | {line}")
        return Completed(0, "", "")

    def hold(
        self, argv: Sequence[str], *, env: Mapping[str, str], log_path: Path
    ) -> RunningService:
        words = [*(f"{name}={value}" for name, value in env.items()), *argv]
        self._say(f"run  {shlex.join(['env', *words] if env else words)}")
        return _Rehearsed(lambda: self._say(f"end  {argv[0]} and all that it started"))


class _Rehearsed:
    mark = None
    log_path = None
    exit_status = None
    has_changed = False

    def __init__(self, ended: Callable[[], None]) -> None:
        self._ended = ended

    def members(self) -> tuple[int, ...]:
        return ()

    def release(self) -> None:
        """There is nothing to begin."""

    def stop(self, grace_s: float = 0.0) -> None:
        self._ended()


def run_well(
    machine: Machine,
    argv: Sequence[str],
    *,
    stdin: bytes = b"",
    changes: bool = False,
    deadline_s: float = COMMAND_DEADLINE_S,
) -> str:
    """What the command printed. Raises StackControlError where it does not end with 0."""
    done = machine.run(argv, stdin=stdin, changes=changes, deadline_s=deadline_s)
    if done.status != 0:
        said = (done.stderr.strip() or done.stdout.strip())[-_SHOWN_OUTPUT:]
        raise StackControlError(f"{shown(argv)} ended with {done.status}: {said or 'no word'}")
    return done.stdout


def shown(argv: Sequence[str]) -> str:
    """A command as a message quotes it: whole, but no longer than a line or two."""
    text = shlex.join(argv)
    return f"'{text}'" if len(text) <= 200 else f"'{text[:197]}...'"
