"""Whatever ends the one who started them, dashboard and worker end too."""

import os
import signal
import subprocess
import sys
import time

import pytest

from db.process_liveness import is_process_alive
from runner.errors import SupervisedProcessError
from runner.execute.supervisor import SupervisedCommand, Supervisor

SUPERVISING = """
import os, sys
from runner.execute.supervisor import SupervisedCommand, Supervisor

code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
commands = [
    SupervisedCommand(name, [sys.executable, "-c", code], 5.0, restarts=True)
    for name in ("dashboard", "worker")
]
supervisor = Supervisor(commands, env=dict(os.environ), tell=lambda text: None)
supervisor.start()
supervisor.wait()
"""


def test_a_kill_of_the_supervisor_ends_what_it_supervises() -> None:
    with subprocess.Popen([sys.executable, "-c", SUPERVISING], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pids = [int(process.stdout.readline()) for _ in range(2)]
        assert all(map(is_process_alive, pids))

        os.kill(process.pid, signal.SIGKILL)

    deadline = time.monotonic() + 20
    while any(map(is_process_alive, pids)):
        assert time.monotonic() < deadline, "they live on"
        os.sched_yield()


def test_a_command_that_is_not_heard_says_only_its_errors(
    capfd: pytest.CaptureFixture[str],
) -> None:
    code = (
        "import os, sys; print('of its own'); "
        "print('an error', 'DECISIVE_SUPERVISED' in os.environ, file=sys.stderr)"
    )
    command = SupervisedCommand("it", [sys.executable, "-c", code], 5.0, False, is_heard=False)
    supervisor = Supervisor([command], env=dict(os.environ), tell=lambda text: None)

    supervisor.start()
    with pytest.raises(SupervisedProcessError):
        supervisor.wait()

    said = capfd.readouterr()
    assert (said.out, said.err) == ("", "an error True\n")
