"""Starts the programs of `tests.db.programs` as real processes and lets them begin together."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENOUGH_S = 60


@contextmanager
def program(name: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The program, started, with its pipes open; it is killed at the end if it still runs."""
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", f"tests.db.programs.{name}", *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        with process:
            yield process
            process.kill()
    finally:
        process.kill()


def run_together(name: str, argument_lists: Sequence[Sequence[str]]) -> list[list[str]]:
    """What several of a program print when all begin at one moment; each must end well."""
    processes = []
    try:
        for arguments in argument_lists:
            context = program(name, *arguments)
            processes.append((context, context.__enter__()))
        for _, process in processes:
            assert process.stdout is not None
            first_line = process.stdout.readline()
            assert first_line == "ready\n", first_line
        for _, process in processes:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        return [_output_of(process) for _, process in processes]
    finally:
        for context, _ in processes:
            context.__exit__(None, None, None)


def _output_of(process: subprocess.Popen[str]) -> list[str]:
    output, errors = process.communicate(timeout=ENOUGH_S)
    assert process.returncode == 0, errors
    return output.splitlines()
