"""A run ends: by its budget, by every signal, with its terminal; and leaves nothing behind."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from db.process_liveness import is_process_alive
from db.store import open_store
from runner.campaign.config_folder import ConfigFolder
from runner.cli.opening import open_campaign
from runner.execute.attended_run import run_attended
from tests.end_to_end.processes import (
    ROOT,
    ask_store,
    decisive,
    decisive_environment,
    decisive_running,
    number,
    wait_for,
)
from tests.fakes.oracle_configs import write_oracle_configs
from tests.runner.execute.campaign_bench import Watching

pytestmark = pytest.mark.end_to_end

ENDED = "SELECT count(*) FROM session"
SERVER = "SELECT json_extract(process_ids, '$.server') FROM launch"


@pytest.fixture
def configs(tmp_path: Path) -> Path:
    return write_oracle_configs(
        tmp_path, levels=["fp8"], sessions=200, switches=["--answer-delay-s", "0.3"]
    )


def _stopped_cleanly(configs: Path, server_pid: int) -> None:
    (run,) = ask_store(configs, "SELECT state, n_ended FROM run WHERE id = 1")
    assert run[0] == "stopped"
    assert run[1] == number(configs, ENDED)
    assert not is_process_alive(server_pid)
    assert number(configs, "SELECT count(*) FROM stack_lease") == 0


def test_a_budget_ends_a_run_whose_server_never_answers(tmp_path: Path) -> None:
    configs = write_oracle_configs(
        tmp_path,
        levels=["fp8"],
        sessions=8,
        switches=["--hang-after", "8"],
        deadlines="{first_token_s: 3600, no_progress_s: 3600, session_s: 7200}",
    )
    opened = open_campaign("oracle-test", ConfigFolder(configs))
    said: list[str] = []

    with open_store(f"sqlite:///{configs / 'decisive.db'}") as store:
        ended = run_attended(
            *opened,
            store=store,
            progress=Watching(),
            said=said.append,
            budget_s=10.0,
            grace_s=0.5,
        )

    assert ended.end is None and ended.budget_spent and not ended.was_asked
    assert "the budget is spent" in said[0]
    assert "stopping at once" in said[1]
    _stopped_cleanly(configs, number(configs, SERVER))


def test_a_budget_that_is_spent_is_no_success(configs: Path) -> None:
    ended = decisive("run", "oracle-test", "--budget-minutes", "0.1", configs=configs)

    assert ended.returncode == 3, ended.stderr
    assert "the budget is spent: stopping after the sessions in flight" in ended.stderr
    assert {state for (state,) in ask_store(configs, "SELECT state FROM run")} <= {"stopped"}
    assert number(configs, "SELECT count(*) FROM stack_lease") == 0


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_ends_a_run_after_the_sessions_in_flight(configs: Path, name: str) -> None:
    with decisive_running("run", "oracle-test", configs=configs) as process:
        wait_for(lambda: number(configs, ENDED) >= 1, what="an ended session")
        server_pid = number(configs, SERVER)
        process.send_signal(signal.Signals[name])
        status = process.wait(timeout=120)

    assert status == 130
    _stopped_cleanly(configs, server_pid)


def test_a_terminal_that_is_closed_ends_its_run(configs: Path) -> None:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "runner.cli", "run", "oracle-test"],
        cwd=ROOT,
        env=decisive_environment(configs),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=_take_terminal,
    )
    os.close(slave)
    os.set_blocking(master, False)
    try:
        wait_for(lambda: _drained(master) and number(configs, ENDED) >= 1, what="an ended session")
        server_pid = number(configs, SERVER)
        os.close(master)
        status = process.wait(timeout=120)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()

    assert status == 130
    _stopped_cleanly(configs, server_pid)


def test_a_reader_that_goes_away_does_not_end_a_run(tmp_path: Path) -> None:
    configs = write_oracle_configs(tmp_path, levels=["fp8"], sessions=6, blocks=2)
    process = subprocess.Popen(
        [sys.executable, "-m", "runner.cli", "run", "oracle-test"],
        cwd=ROOT,
        env=decisive_environment(configs),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()

    assert process.wait(timeout=120) == 0
    assert ask_store(configs, "SELECT state FROM run") == [("done",), ("done",)]


def _take_terminal() -> None:
    """Makes the pseudo-terminal the controlling one, so that closing it hangs up."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _drained(master: int) -> bool:
    """Reads what the program printed, or its terminal would fill up."""
    with contextlib.suppress(BlockingIOError):
        while os.read(master, 1 << 16):
            continue
    return True
