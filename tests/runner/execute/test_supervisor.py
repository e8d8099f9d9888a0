"""Whatever ends the one who started them, dashboard and worker end too."""

import os
import signal
import subprocess
import sys
import time

from db.process_liveness import is_process_alive

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
