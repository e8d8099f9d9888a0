"""Commands whose streams are closed, full or interrupted, as real processes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PLAN = ["plan", "smoke", "--json", "--configs", "configs"]


def _argv(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "runner.cli", *arguments]


def _through_shell(arguments: list[str], redirections: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {redirections}', "sh", *_argv(*arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_result_that_finds_no_room_is_no_success() -> None:
    ended = _through_shell(PLAN, ">/dev/full")

    assert ended.returncode == 2
    assert ended.stderr == "the result could not be written: No space left on device\n"


def test_help_that_finds_no_room_is_no_fault_of_ours() -> None:
    ended = _through_shell(["--help"], ">/dev/full")

    assert ended.returncode == 2
    assert "No space left on device" in ended.stderr


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_fault(closed: str) -> None:
    ended = _through_shell(PLAN, closed)

    assert ended.returncode == 0
    assert ended.stderr == ""


def test_an_interruption_while_a_command_reads_is_told_without_a_traceback() -> None:
    with subprocess.Popen(
        _argv("import", "-", "--versus", "12/80"),
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None and process.stderr is not None
        # More than a pipe holds: once all is written, the command is reading.
        process.stdin.write("wall=1.0s counts={}\n" * 10_000)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()

    assert process.returncode == -signal.SIGINT
    assert said == ""


@pytest.mark.parametrize("imported", ["runner.cli.main", "runner.cli.cases_command"])
def test_an_interruption_while_libraries_are_imported_is_told_without_a_traceback(
    imported: str,
) -> None:
    """The module that is to be imported says so through a pipe, and waits there."""
    code = (
        "import os, runpy, signal, sys\n"
        "ready, imported = int(sys.argv[1]), sys.argv[2]\n"
        "class Slow:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == imported:\n"
        "            os.write(ready, b'.'); signal.pause()\n"
        "        return None\n"
        "sys.meta_path.insert(0, Slow()); sys.argv = ['decisive', 'cases']\n"
        "runpy.run_module('runner.cli', run_name='__main__')\n"
    )
    reading, writing = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-c", code, str(writing), imported],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=[writing],
    ) as process:
        os.close(writing)
        assert os.read(reading, 1) == b"."
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read()
    os.close(reading)

    assert process.returncode == -signal.SIGINT
    assert said == ""
