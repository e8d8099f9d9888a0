"""Starts the command line as a program of its own, and waits for what it does to the store."""

import json
import os
import signal
import sqlite3
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from runner.control.process_group import ProcessMark, end_members
from tests.end_to_end.forked_programs import FORKS, ForkedProgram

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120.0


def decisive(
    *arguments: str, configs: Path, check_s: float = 240
) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end, on the store and the configs in `configs`."""
    with TemporaryDirectory() as folder:
        out, err = Path(folder) / "out", Path(folder) / "err"
        environment = decisive_environment(configs)
        program = FORKS.start(arguments, environment=environment, out=out, err=err)
        try:
            status = program.wait(check_s)
        finally:
            program.send_signal(signal.SIGKILL)
        printed, told = out.read_text("utf-8"), err.read_text("utf-8")
    return subprocess.CompletedProcess(arguments, status, printed, told)


@contextmanager
def decisive_running(*arguments: str, configs: Path) -> Iterator[ForkedProgram]:
    """A command in a process group of its own.

    One that still runs at the end is killed, and the servers that it leaves are ended for it; what
    a test killed itself stays as it is.
    """
    nowhere = Path(os.devnull)
    environment = decisive_environment(configs)
    process = FORKS.start(arguments, environment=environment, out=nowhere, err=nowhere)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE_S)
            _end_left_services(configs)


def _end_left_services(configs: Path) -> None:
    """A killed worker leaves its servers to the next start; after a test there is none."""
    held = ask_store(configs, "SELECT json_extract(process_ids, '$.server') FROM stack_lease")
    for (found,) in held:
        if isinstance(found, str):
            end_members(ProcessMark.from_json(json.loads(found)))


def wait_for(condition: Callable[[], bool], *, what: str, patience_s: float = PATIENCE_S) -> None:
    """Asks until it holds. Raises AssertionError that names what never came."""
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, f"never came: {what}"
        time.sleep(0.05)


def answers(url: str) -> bool:
    """Whether there is a page."""
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def ask_store(configs: Path, query: str) -> list[tuple[object, ...]]:
    """The rows of a query; none where the store or its tables do not exist yet."""
    path = configs / "decisive.db"
    if not path.exists():
        return []
    try:
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()
    except sqlite3.OperationalError:
        return []


def number(configs: Path, query: str) -> int:
    rows = ask_store(configs, query)
    value = rows[0][0] if rows else 0
    assert isinstance(value, int)
    return value


def decisive_environment(configs: Path) -> dict[str, str]:
    return {
        **os.environ,
        "DECISIVE_STORE": f"sqlite:///{configs / 'decisive.db'}",
        "DECISIVE_CONFIGS": str(configs),
    }
