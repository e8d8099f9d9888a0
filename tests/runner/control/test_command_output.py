"""What a command writes is heard to its end and held up to a bound."""

import subprocess
import sys
from itertools import count

import pytest

from runner.control.command_output import KeptOutput, exchange


def python(program: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_a_child_hears_what_it_is_told_and_both_its_streams_are_heard() -> None:
    program = "import sys; told = sys.stdin.read(); print(len(told)); sys.stderr.write(told[-3:])"

    with python(program) as child:
        output, errors = exchange(child, b"x" * 300_000 + b"end", deadline_s=60, most_bytes=1000)

    assert (output.text.strip(), errors.text, child.returncode) == ("300003", "end", 0)


def test_of_what_a_command_writes_without_end_no_more_than_the_bound_is_held() -> None:
    ticks = count()
    program = "import sys\nwhile True: sys.stdout.write('y' * 65536)"

    with python(program) as child:
        with pytest.raises(subprocess.TimeoutExpired):
            exchange(child, b"", deadline_s=200, most_bytes=1000, clock=lambda: next(ticks))
        child.kill()


def test_what_was_not_kept_is_counted() -> None:
    program = "import sys; sys.stdout.write('y' * 1_000_000); sys.exit(3)"

    with python(program) as child:
        output, _ = exchange(child, b"", deadline_s=60, most_bytes=10)

    assert len(output.kept) == 10
    assert output.text == "yyyyyyyyyy\n[999990 more bytes were not kept]\n"
    assert child.returncode == 3


def test_a_child_that_listens_to_nothing_is_no_fault() -> None:
    with python("import os; os.close(0); print('deaf')") as child:
        output, _ = exchange(child, b"x" * 1_000_000, deadline_s=60, most_bytes=100)

    assert output.text == "deaf\n"


def test_a_bound_that_cuts_a_character_leaves_text() -> None:
    kept = KeptOutput(1)
    kept.add("é".encode())

    assert kept.text == "�\n[1 more bytes were not kept]\n"
