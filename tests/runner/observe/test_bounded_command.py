"""Commands that hang, fail, print for ever or do not listen: each ends, and says how."""

import sys
from pathlib import Path

from runner.observe.bounded_command import run_bounded

PATIENT_S = 30.0


def _is_gone(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text("ascii").split()[2] == "Z"


async def test_what_a_command_writes_is_given_back() -> None:
    end = await run_bounded(["sh", "-c", "echo one; echo two >&2"], deadline_s=30, cap_bytes=100)

    assert (end.output, end.trouble, end.is_cut) == (b"one\ntwo\n", None, False)


async def test_it_hears_what_it_is_told_even_where_it_prints_first() -> None:
    chatty = "import sys; sys.stdout.write('x' * 300_000); print(len(sys.stdin.read()))"

    end = await run_bounded(
        [sys.executable, "-c", chatty], deadline_s=30, cap_bytes=1_000_000, told=b"y" * 300_000
    )

    assert end.output.endswith(b"x300000\n")


async def test_one_that_does_not_listen_is_no_trouble() -> None:
    end = await run_bounded(["true"], deadline_s=30, cap_bytes=100, told=b"y" * 1_000_000)

    assert end.trouble is None


async def test_one_that_fails_says_its_status_and_its_last_line() -> None:
    end = await run_bounded(
        ["sh", "-c", "echo first; echo why; exit 3"], deadline_s=30, cap_bytes=99
    )

    assert end.trouble == "sh ended with 3: why"


async def test_one_that_hangs_is_killed_with_what_it_has_started(tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    script = f"sleep 600 & echo $! > {noted}; echo begun; wait"

    end = await run_bounded(["sh", "-c", script], deadline_s=1.0, cap_bytes=100)

    assert (end.output, end.trouble) == (b"begun\n", "sh had not ended after 1 s")
    assert _is_gone(int(noted.read_text("ascii")))


async def test_one_that_leaves_a_child_with_its_output_does_not_hold_anybody_up() -> None:
    end = await run_bounded(["sh", "-c", "sleep 600 & echo done"], deadline_s=1.0, cap_bytes=100)

    assert end.output == b"done\n"


async def test_one_that_prints_for_ever_is_cut() -> None:
    end = await run_bounded(["yes"], deadline_s=PATIENT_S, cap_bytes=100_000)

    assert (len(end.output), end.is_cut) == (100_000, True)


async def test_one_that_cannot_be_started_says_why(tmp_path: Path) -> None:
    denied = tmp_path / "tool"
    denied.write_text("#!/bin/sh\n", "ascii")

    absent = await run_bounded(["no-such-command"], deadline_s=1, cap_bytes=1)
    not_allowed = await run_bounded([str(denied)], deadline_s=1, cap_bytes=1)

    assert absent.trouble == "cannot start no-such-command: No such file or directory"
    assert not_allowed.trouble == "cannot start tool: Permission denied"
