"""Runs `decisive` in forks of a process that has read its libraries, each a program of its own.

A test that starts and kills it a dozen times would else wait for imports most of the time.
"""

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.end_to_end.processes import ROOT, decisive_environment

_READ_BEFOREHAND = ("runner.cli.main", "runner.cli.run_command", "runner.execute.attended_run")


class Forks:
    """The side of the test."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def start(self, *arguments: str, configs: Path) -> int:
        """The pid of `decisive ARGUMENTS`, on the store and the configs in `configs`."""
        environment = decisive_environment(configs)
        wanted = {name: environment[name] for name in ("DECISIVE_STORE", "DECISIVE_CONFIGS")}
        return self._ask({"start": arguments, "env": wanted, "log": str(configs / "printed.txt")})

    def wait(self, pid: int) -> int:
        """The status with which it ended, negative for a signal."""
        return self._ask({"wait": pid})

    def _ask(self, what: dict[str, object]) -> int:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


@contextmanager
def forks() -> Iterator[Forks]:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.end_to_end.forked_programs"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Forks(process)
        assert process.stdin is not None
        process.stdin.close()
        process.wait(timeout=120)


def main() -> None:
    for module in _READ_BEFOREHAND:
        importlib.import_module(module)
    for line in sys.stdin:
        asked = json.loads(line)
        if "start" in asked:
            said = os.fork() or _become(asked["start"], asked["env"], Path(asked["log"]))
        else:
            said = os.waitstatus_to_exitcode(os.waitpid(asked["wait"], 0)[1])
        sys.stdout.write(f"{said}\n")
        sys.stdout.flush()


def _become(arguments: list[str], environment: dict[str, str], log: Path) -> int:
    """In the child; does not return."""
    os.setsid()
    printed = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for fd, target in ((nothing, 0), (printed, 1), (printed, 2)):
        os.dup2(fd, target)
    os.environ.update(environment)
    sys.argv = ["decisive", *arguments]
    status = 0
    try:
        importlib.import_module("runner.cli.__main__").main()
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else 1
    finally:
        sys.stdout.flush()
        os._exit(status)


if __name__ == "__main__":
    main()
