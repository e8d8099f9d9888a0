"""Runs `decisive` in forks of a process that has read its libraries, each a program of its own.

Tests that start it a hundred times would else wait for imports most of the time.
"""

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_READ_BEFOREHAND = (
    "runner.cli.main",
    "runner.cli.run_command",
    "runner.cli.stack_commands",
    "runner.cli.watch_command",
    "alembic.command",
)
_LOOKS_APART_S = 0.02


@dataclass
class ForkedProgram:
    """What a test needs of `subprocess.Popen`."""

    pid: int
    _forks: "Forks"
    returncode: int | None = None

    def poll(self) -> int | None:
        """The status with which it ended, negative for a signal; None while it runs."""
        if self.returncode is None:
            self.returncode = self._forks.status_of(self.pid)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def wait(self, timeout: float) -> int:
        """Raises AssertionError where it still runs after so many seconds."""
        deadline = time.monotonic() + timeout
        while (status := self.poll()) is None:
            assert time.monotonic() < deadline, f"process {self.pid} still runs"
            time.sleep(_LOOKS_APART_S)
        return status


@dataclass
class Forks:
    """The side of the tests: one process that forks, from its first use to the end of the tests."""

    _process: subprocess.Popen[str] | None = field(default=None, init=False)

    def start(
        self, arguments: Sequence[str], *, environment: Mapping[str, str], out: Path, err: Path
    ) -> ForkedProgram:
        """`decisive ARGUMENTS`, which leads a group of its own and appends to these two files."""
        asked = {"start": arguments, "env": environment, "out": str(out), "err": str(err)}
        pid = self._ask(asked)
        assert pid is not None
        return ForkedProgram(pid, self)

    def status_of(self, pid: int) -> int | None:
        return self._ask({"status": pid})

    def close(self) -> None:
        if self._process is not None:
            assert self._process.stdin is not None and self._process.stdout is not None
            self._process.stdin.close()
            self._process.wait(timeout=120)
            self._process.stdout.close()
            self._process = None

    def _ask(self, what: dict[str, object]) -> int | None:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.end_to_end.forked_programs"],
                cwd=_ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        said: int | None = json.loads(self._process.stdout.readline())
        return said


FORKS = Forks()
"""For all tests; the fixture that closes it stands in `conftest`."""


def main() -> None:
    for module in _READ_BEFOREHAND:
        importlib.import_module(module)
    for line in sys.stdin:
        asked = json.loads(line)
        said = _start(asked) if "start" in asked else _status_of(asked["status"])
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


def _status_of(pid: int) -> int | None:
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def _start(asked: dict[str, object]) -> int:
    pid = os.fork()
    if pid == 0:
        _become(asked)
    return pid


def _become(asked: dict[str, object]) -> None:
    """In the child; does not return."""
    status = 1
    try:
        os.setsid()
        _print_to(str(asked["out"]), str(asked["err"]))
        environment, arguments = asked["env"], asked["start"]
        assert isinstance(environment, dict) and isinstance(arguments, list)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["decisive", *arguments]
        importlib.import_module("runner.cli.__main__").main()
        status = 0
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    finally:
        sys.stdout.flush()
        os._exit(status)


def _print_to(out: str, err: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    printed, told = os.open(out, flags, 0o644), os.open(err, flags, 0o644)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for fd, target in ((nothing, 0), (printed, 1), (told, 2)):
        os.dup2(fd, target)


if __name__ == "__main__":
    main()
