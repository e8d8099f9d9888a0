import os
import subprocess
import sys

from db.process_liveness import is_process_alive, this_host


def test_this_process_lives() -> None:
    assert is_process_alive(os.getpid())


def test_a_process_of_somebody_else_lives() -> None:
    assert is_process_alive(1)


def test_an_ended_process_is_dead_before_and_after_it_was_waited_for() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

    assert not is_process_alive(process.pid)
    process.wait()
    assert not is_process_alive(process.pid)


def test_the_host_has_a_name() -> None:
    assert this_host()
