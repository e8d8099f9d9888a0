import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from db.process_liveness import is_process_alive
from runner.control.process import ServiceProcess, hold_process
from runner.control.process_group import ProcessMark, end_members, mark_of
from runner.errors import StackStartError

SLEEPER = "import time; print('up', flush=True); time.sleep(60)"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "print('up', flush=True); time.sleep(60)"
)
WITH_CHILD = (
    "import subprocess, sys, time;"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
    "print(child.pid, flush=True); time.sleep(60)"
)


ORPHANING = (
    "import subprocess, sys;"
    "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']);"
    "print(child.pid, flush=True)"
)


def start_process(argv: list[str], *, env: dict[str, str], log_path: Path) -> ServiceProcess:
    service = hold_process(argv, env=env, log_path=log_path)
    service.release()
    return service


def _wait_for_output(log_path: Path) -> str:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        text = log_path.read_text() if log_path.exists() else ""
        if text.endswith("\n"):
            return text
        os.sched_yield()
    raise AssertionError("the child printed nothing")


def test_output_goes_to_the_log_and_stop_ends_the_process(tmp_path: Path) -> None:
    service = start_process(
        [sys.executable, "-c", SLEEPER], env={}, log_path=tmp_path / "logs" / "server.log"
    )
    assert _wait_for_output(service.log_path) == "up\n"
    assert service.exit_status is None

    service.stop()
    service.stop()

    assert service.exit_status == -signal.SIGTERM


def test_a_process_that_ignores_the_request_is_killed(tmp_path: Path) -> None:
    service = start_process([sys.executable, "-c", STUBBORN], env={}, log_path=tmp_path / "log")
    _wait_for_output(service.log_path)

    service.stop(grace_s=0.2)

    assert service.exit_status == -signal.SIGKILL


def test_children_of_the_service_end_with_it(tmp_path: Path) -> None:
    service = start_process([sys.executable, "-c", WITH_CHILD], env={}, log_path=tmp_path / "log")
    child_pid = int(_wait_for_output(service.log_path))
    child = mark_of(child_pid)
    assert child is not None

    service.stop()

    assert _is_gone(child)


def test_the_environment_of_the_arm_reaches_the_service(tmp_path: Path) -> None:
    code = "import os; print(os.environ['DECISIVE_TEST_ARM'], flush=True)"

    service = start_process(
        [sys.executable, "-c", code], env={"DECISIVE_TEST_ARM": "bf16"}, log_path=tmp_path / "log"
    )

    assert _wait_for_output(service.log_path) == "bf16\n"
    service.stop()


def test_a_program_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(StackStartError, match="cannot start 'no-such-program'"):
        start_process(["no-such-program"], env={}, log_path=tmp_path / "log")


def test_a_left_over_service_is_ended_by_its_mark(tmp_path: Path) -> None:
    service = start_process([sys.executable, "-c", SLEEPER], env={}, log_path=tmp_path / "log")
    _wait_for_output(service.log_path)

    stored = ProcessMark.from_json(service.mark.to_json())

    assert end_members(stored, grace_s=0.2)
    service.stop()
    assert not end_members(stored, grace_s=0.2)


def test_children_that_outlived_their_leader_are_ended(tmp_path: Path) -> None:
    service = start_process([sys.executable, "-c", ORPHANING], env={}, log_path=tmp_path / "log")
    child = mark_of(int(_wait_for_output(service.log_path)))
    _wait_for_end(service)
    assert child is not None and not _is_ended(child)

    service.stop(grace_s=0.5)

    assert _is_gone(child)


def test_children_of_a_left_over_service_are_ended_though_its_leader_is_gone(
    tmp_path: Path,
) -> None:
    service = start_process([sys.executable, "-c", ORPHANING], env={}, log_path=tmp_path / "log")
    child = mark_of(int(_wait_for_output(service.log_path)))
    _wait_for_end(service)
    assert child is not None
    stored = ProcessMark.from_json(service.mark.to_json())

    assert end_members(stored, grace_s=0.5)

    assert _is_gone(child)
    assert not end_members(stored, grace_s=0.5)


def test_a_held_service_has_a_pid_and_begins_only_when_it_is_released(tmp_path: Path) -> None:
    flag = tmp_path / "begun"
    code = f"open({str(flag)!r}, 'w').close(); print('up', flush=True)"

    service = hold_process([sys.executable, "-c", code], env={}, log_path=tmp_path / "log")

    assert mark_of(service.mark.pid) == service.mark
    assert not flag.exists()
    service.release()
    _wait_for_output(service.log_path)
    assert mark_of(service.mark.pid) == service.mark
    assert flag.exists()
    service.stop()


def test_a_held_service_ends_with_whoever_was_to_release_it(tmp_path: Path) -> None:
    flag = tmp_path / "begun"
    holder = (
        "import os, sys; from pathlib import Path; from runner.control.process import hold_process;"
        f"held = hold_process(['touch', {str(flag)!r}], env={{}}, log_path=Path({str(tmp_path)!r},"
        " 'log')); print(held.mark.pid, held.mark.start_ticks, flush=True);"
        "os.kill(os.getpid(), 9)"
    )

    said = subprocess.run([sys.executable, "-c", holder], stdout=subprocess.PIPE, check=False)

    pid, start_ticks = map(int, said.stdout.split())
    assert said.returncode == -signal.SIGKILL
    assert _is_gone(ProcessMark(pid, start_ticks))
    assert not flag.exists()


def test_a_process_that_got_the_same_pid_later_is_left_alone(tmp_path: Path) -> None:
    service = start_process([sys.executable, "-c", SLEEPER], env={}, log_path=tmp_path / "log")
    other = ProcessMark(service.mark.pid, service.mark.start_ticks - 1)

    assert not end_members(other)
    assert service.exit_status is None
    service.stop()


def _is_gone(mark: ProcessMark) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if _is_ended(mark):
            return True
        os.sched_yield()
    return False


def _is_ended(mark: ProcessMark) -> bool:
    return mark_of(mark.pid) != mark or not is_process_alive(mark.pid)


def _wait_for_end(service: ServiceProcess) -> None:
    deadline = time.monotonic() + 20
    while service.exit_status is None:
        assert time.monotonic() < deadline
        os.sched_yield()
