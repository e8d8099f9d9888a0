"""`decisive watch` and `decisive logs` as processes: whatever ends them, they end cleanly."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from runner.control.ports import free_port

pytestmark = pytest.mark.end_to_end

DECISIVE = [sys.executable, "-m", "runner.cli"]
PATIENT_S = 120


def _watch(folder: Path) -> list[str]:
    """Of a server that is not there: its state is said at once."""
    url = f"server=http://127.0.0.1:{free_port()}"
    return [*DECISIVE, "watch", "testbed", "--url", url, "--boxes", str(folder)]


@pytest.fixture
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def _started(opened: ExitStack, command: list[str]) -> subprocess.Popen[bytes]:
    process = opened.enter_context(
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
    )
    opened.callback(process.kill)
    return process


def test_each_signal_ends_a_watch_with_130_and_no_traceback(
    opened: ExitStack, tmp_path: Path
) -> None:
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    processes = [_started(opened, _watch(tmp_path)) for _ in signals]
    for process, number in zip(processes, signals, strict=True):
        assert process.stdout is not None
        assert b"unavailable" in process.stdout.readline()
        process.send_signal(number)

    for process in processes:
        _, told = process.communicate(timeout=PATIENT_S)
        assert (process.returncode, told) == (130, b"stopping the watch\n")


def test_a_closed_terminal_ends_a_watch(tmp_path: Path) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        command = _watch(tmp_path)
        os.execv(command[0], command)
    with closing(os.fdopen(terminal, "rb", buffering=0)) as screen:
        shown = b""
        while b"unavailable" not in shown:
            shown += screen.read(4096)

    _, status = os.waitpid(pid, 0)

    assert os.waitstatus_to_exitcode(status) == 130


def test_a_log_that_never_ends_is_left_by_ctrl_c(opened: ExitStack, tmp_path: Path) -> None:
    endless = tmp_path / "pipe"
    os.mkfifo(endless)
    process = _started(opened, [*DECISIVE, "logs", str(endless)])
    with endless.open("wb", buffering=0) as writer:  # opens once it is read
        writer.write(b"[2026-06-01 10:00:00] a line\n")
        process.send_signal(signal.SIGINT)

        _, told = process.communicate(timeout=PATIENT_S)

    assert process.returncode == -signal.SIGINT
    assert told == b""
