"""Starts the programs of `tests.db.programs` as real processes and lets them begin together."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
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


@contextmanager
def started_together(
    name: str, argument_lists: Sequence[Sequence[str]]
) -> Iterator[list[subprocess.Popen[str]]]:
    """Several of a program, all beginning at one moment once all are ready."""
    with ExitStack() as stack:
        processes = [stack.enter_context(program(name, *each)) for each in argument_lists]
        for process in processes:
            assert next_line(process) == "ready"
        for process in processes:
            give_the_sign(process)
        yield processes


def run_together(name: str, argument_lists: Sequence[Sequence[str]]) -> list[list[str]]:
    """What several of a program print when all begin at one moment; each must end well."""
    with started_together(name, argument_lists) as processes:
        return [_output_of(process) for process in processes]


def next_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


def give_the_sign(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def _output_of(process: subprocess.Popen[str]) -> list[str]:
    output, errors = process.communicate(timeout=ENOUGH_S)
    assert process.returncode == 0, errors
    return output.splitlines()
