"""A campaign that is cut in the middle loses nothing that had ended, and goes on afterwards."""

import json
import os
import signal
from pathlib import Path

import pytest

from db.process_liveness import is_process_alive
from tests.end_to_end.processes import ask_store, decisive, decisive_running, number, wait_for
from tests.fakes.oracle_configs import write_oracle_configs

pytestmark = pytest.mark.end_to_end

ENDED = "SELECT count(*) FROM session"


@pytest.fixture
def configs(tmp_path: Path) -> Path:
    return write_oracle_configs(
        tmp_path, levels=["fp8"], sessions=16, blocks=2, switches=["--answer-delay-s", "0.3"]
    )


def test_a_worker_that_is_killed_loses_no_ended_session_and_the_campaign_completes(
    configs: Path,
) -> None:
    with decisive_running("run", "oracle-test", configs=configs) as process:
        wait_for(lambda: number(configs, ENDED) >= 2, what="two ended sessions")
        os.kill(process.pid, signal.SIGKILL)
        process.wait(120)
    server_pid = number(configs, "SELECT json_extract(process_ids, '$.server') FROM launch")
    ended_before = number(configs, ENDED)
    assert is_process_alive(server_pid)

    again = decisive("run", "oracle-test", "--json", configs=configs)

    assert not is_process_alive(server_pid)
    result = json.loads(again.stdout)
    runs = [(run["block"], run["attempt"], run["state"]) for run in result["runs"]]
    assert sorted(runs) == [(1, 1, "stopped"), (1, 2, "done"), (2, 1, "done")]
    stopped = next(run for run in result["runs"] if run["state"] == "stopped")
    assert stopped["sessions"] == ended_before >= 2
    assert "worker" in stopped["reason"]
    assert [run["sessions"] for run in result["runs"] if run["state"] == "done"] == [16, 16]


def test_a_server_that_is_killed_ends_its_run_flagged_and_the_next_run_starts_afresh(
    configs: Path,
) -> None:
    with decisive_running("run", "oracle-test", configs=configs) as process:
        wait_for(lambda: number(configs, ENDED) >= 2, what="two ended sessions")
        server_pid = number(configs, "SELECT json_extract(process_ids, '$.server') FROM launch")
        os.kill(server_pid, signal.SIGKILL)
        silent_without_a_hypothesis = 3
        assert process.wait(120) == silent_without_a_hypothesis

    first, second = ask_store(
        configs, "SELECT state, flags, n_done, n_error, n_ended FROM run ORDER BY id"
    )
    assert first[0] == "done" and "server_died" in str(first[1])
    assert first[4] == 16 and int(str(first[3])) >= 4
    assert second == ("done", "[]", 16, 0, 16)


def test_one_ctrl_c_lets_the_sessions_in_flight_end(configs: Path) -> None:
    with decisive_running("run", "oracle-test", configs=configs) as process:
        wait_for(lambda: number(configs, ENDED) >= 1, what="an ended session")
        process.send_signal(signal.SIGINT)
        status = process.wait(120)

    assert status == 130
    (run,) = ask_store(configs, "SELECT state, reason, n_ended, n_done FROM run WHERE id = 1")
    assert run[0] == "stopped" and "stopped after" in str(run[1])
    assert run[2] == run[3]


def test_two_ctrl_c_stop_at_once_and_leave_no_server_behind(configs: Path) -> None:
    with decisive_running("run", "oracle-test", configs=configs) as process:
        wait_for(lambda: number(configs, ENDED) >= 1, what="an ended session")
        server_pid = number(configs, "SELECT json_extract(process_ids, '$.server') FROM launch")
        process.send_signal(signal.SIGINT)
        wait_for(
            lambda: number(configs, "SELECT 1") == 1, what="a store that can be read meanwhile"
        )
        process.send_signal(signal.SIGINT)
        status = process.wait(120)

    assert status == 130
    assert not is_process_alive(server_pid)
    (run,) = ask_store(configs, "SELECT state, n_ended FROM run WHERE id = 1")
    assert run[0] == "stopped"
    assert number(configs, "SELECT count(*) FROM stack_lease") == 0


def test_a_second_worker_is_told_that_the_stack_is_taken(tmp_path: Path) -> None:
    # Answers so slow that the first worker is still at it, however late the second one starts.
    configs = write_oracle_configs(
        tmp_path, levels=["fp8"], sessions=16, blocks=2, switches=["--answer-delay-s", "6"]
    )
    with decisive_running("run", "oracle-test", configs=configs):
        wait_for(
            lambda: number(configs, "SELECT count(*) FROM stack_lease") == 1, what="a held stack"
        )

        second = decisive("run", "oracle-test", configs=configs)

    assert second.returncode == 2
    assert "is driven by" in second.stderr
    assert "Traceback" not in second.stderr
