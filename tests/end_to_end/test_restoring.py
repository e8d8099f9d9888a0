"""A campaign that is killed leaves a stack that can be given back as it was found."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.processes import answers, decisive, decisive_running, number, wait_for
from tests.fakes.controlled_configs import (
    FAKES,
    FOUND_ARGS,
    UNIT,
    ControlledStack,
    systemd_over_ssh,
)

pytestmark = pytest.mark.end_to_end


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[ControlledStack]:
    made = systemd_over_ssh(tmp_path, levels=["bf16"], sessions=40)
    yield made
    made.close()


def killed_when(query: str, stack: ControlledStack, what: str) -> None:
    with decisive_running("run", "oracle-test", configs=stack.folder) as process:
        wait_for(lambda: number(stack.folder, query) >= 1, what=what)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(120)
    wait_for(lambda: not followers(stack), what="the end of the one who followed the journal")


def followers(stack: ControlledStack) -> list[Path]:
    """Processes that still follow the journal of this stack."""
    words = str(FAKES / "journalctl.py").encode() + b"\0" + bytes(stack.folder)
    found: list[Path] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            found += [path] if words in path.read_bytes() else []
    return found


def drop_ins(stack: ControlledStack) -> list[str]:
    folder = stack.folder / "drop-ins" / f"{UNIT}.d"
    return [path.name for path in folder.iterdir()] if folder.is_dir() else []


def test_a_killed_campaign_is_undone_by_a_command(stack: ControlledStack) -> None:
    killed_when("SELECT count(*) FROM session", stack, "an ended session")
    assert "bf16" in stack.running_words(UNIT)
    assert drop_ins(stack) == ["zz-decisive.conf"]

    told = decisive("stack", "restore", "oracle", "--dry-run", configs=stack.folder)
    untouched = stack.running_words(UNIT)
    done = decisive("stack", "restore", "oracle", configs=stack.folder)
    again = decisive("stack", "restore", "oracle", configs=stack.folder)

    assert "daemon-reload" in told.stdout and "bf16" in untouched
    assert done.returncode == 0, done.stderr
    assert "is as it was found" in done.stdout
    assert stack.running_words(UNIT)[-4:] == FOUND_ARGS
    assert drop_ins(stack) == []
    assert "nothing to restore" in again.stdout


def test_a_stack_whose_host_is_away_keeps_what_is_to_be_restored(stack: ControlledStack) -> None:
    killed_when("SELECT count(*) FROM session", stack, "an ended session")
    unit = stack.folder / "units" / UNIT
    text = unit.read_text("utf-8")
    unit.unlink()

    failed = decisive("stack", "restore", "oracle", configs=stack.folder)
    unit.write_text(text, "utf-8")
    done = decisive("stack", "restore", "oracle", configs=stack.folder)

    assert failed.returncode == 1
    assert f"Unit {UNIT} could not be found" in failed.stderr
    assert done.returncode == 0, done.stderr
    assert stack.running_words(UNIT)[-4:] == FOUND_ARGS


def test_a_rehearsal_tells_every_command_and_touches_nothing(stack: ControlledStack) -> None:
    told = decisive("run", "oracle-test", "--dry-run", configs=stack.folder)

    assert told.returncode == 0, told.stderr
    assert stack.running_words(UNIT)[-4:] == FOUND_ARGS
    assert not (stack.folder / "calls").exists()
    assert not (stack.folder / "decisive.db").exists()
    commands = [line for line in told.stdout.splitlines() if line.startswith("run  ")]
    assert [
        word in line
        for word, line in zip(
            (
                "mkdir -p",
                "tee",
                "daemon-reload",
                "restart",
                "stop",
                "rm -f",
                "daemon-reload",
                "restart",
            ),
            commands,
            strict=True,
        )
    ] == [True] * 8
    assert 'ExecStart="' in told.stdout


def test_a_check_reaches_what_runs_and_changes_nothing(stack: ControlledStack) -> None:
    wait_for(lambda: answers(f"http://127.0.0.1:{stack.port}/health"), what="a server that is up")

    checked = decisive("stack", "check", "oracle", configs=stack.folder)

    assert checked.returncode == 0, checked.stdout
    said = checked.stdout
    assert "ok      server health" in said
    assert f"ok      server systemd: {UNIT} on gpu1 runs; rights are there" in said
    assert "ok      server log: it can be followed (journal)" in said
    assert "ok      host gpu1: its clock differs by" in said
    assert (stack.folder / "calls").read_text("utf-8").split("\n")[0].startswith("show")
    assert "restart" not in (stack.folder / "calls").read_text("utf-8")


def test_a_check_names_what_cannot_be_reached(stack: ControlledStack) -> None:
    stack.close()

    checked = decisive("stack", "check", "oracle", configs=stack.folder)

    assert checked.returncode == 1
    assert "FAILED  server health" in checked.stdout
    assert "is stopped" in checked.stdout
