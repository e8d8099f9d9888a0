"""A scheduler that stands still or dies, the watchdogs that see it, and the server around it."""

from __future__ import annotations

import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from runner.testbed.launch_options import LaunchOptions
from runner.testbed.scheduler_faults import SchedulerDiedError, SchedulerFaults
from runner.testbed.watchdog import StepPulse, Watchdog, WatchdogTimeouts, make_watchdogs
from tests.runner.testbed.chat_rendering import draw_dialogues, first_request

_PATIENCE_S = 60.0
REQUEST = first_request(draw_dialogues(1, seed=3)[0])


class Killed:
    """Stands in for the end of the process."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> None:
        self.times += 1


def strikes(options: LaunchOptions, n_steps: int, kill: Killed) -> None:
    faults, stopped = SchedulerFaults(options, kill=kill), threading.Event()
    for _ in range(n_steps):
        faults.strike(stopped)
        faults.step_done()


def test_without_a_switch_nothing_strikes() -> None:
    killed = Killed()

    strikes(LaunchOptions(), 50, killed)

    assert killed.times == 0


def test_a_server_that_is_to_die_of_an_exception_raises_it_in_its_step() -> None:
    strikes(LaunchOptions(die_after_steps=3), 3, Killed())

    with pytest.raises(SchedulerDiedError):
        strikes(LaunchOptions(die_after_steps=3), 4, Killed())


@pytest.mark.parametrize(("side", "deaths"), [("decode", 1), ("prefill", 0)])
def test_of_two_servers_only_the_one_that_is_named_dies(side: str, deaths: int) -> None:
    killed = Killed()
    options = LaunchOptions(
        die_after_steps=1, die_as="killed", die_side=side, disaggregation_mode="decode"
    )

    strikes(options, 5, killed)

    assert killed.times == deaths


def test_a_stall_ends_when_the_server_is_told_to_stop() -> None:
    faults = SchedulerFaults(LaunchOptions(stall_scheduler_after_steps=0), kill=Killed())
    stopped = threading.Event()
    stalled = threading.Thread(target=faults.strike, args=(stopped,))
    stalled.start()

    stopped.set()
    stalled.join(_PATIENCE_S)

    assert not stalled.is_alive()


def test_a_watchdog_fires_once_for_a_step_that_takes_too_long() -> None:
    pulse, fired = StepPulse(), queue.SimpleQueue[None]()
    dog = Watchdog(pulse, 5.0, lambda: fired.put(None))

    dog.check(100.0)  # no step in progress: a wedge of the queues is none of its business
    pulse.begin(100.0)
    dog.check(104.9)
    assert fired.empty()
    dog.check(105.0)
    dog.check(200.0)
    assert fired.qsize() == 1
    pulse.end()
    pulse.begin(300.0)
    dog.check(305.0)

    assert fired.qsize() == 2


def test_the_soft_watchdog_writes_and_the_hard_one_ends_the_process() -> None:
    pulse, log, killed = StepPulse(), list[str](), Killed()
    soft, hard = make_watchdogs(
        pulse, WatchdogTimeouts(hard_s=300.0, soft_s=10.0), log=log.append, kill=killed
    )
    pulse.begin(0.0)

    soft.check(10.0)
    assert log == ["Scheduler watchdog timeout (self.watchdog_timeout=10, self.soft=True)"]
    assert killed.times == 0
    hard.check(300.0)

    assert log[1] == "Scheduler watchdog timeout (self.watchdog_timeout=300, self.soft=False)"
    assert log[2].startswith("SIGQUIT received. signum=3")
    assert killed.times == 1


@contextmanager
def server(*switches: str) -> Iterator[tuple[subprocess.Popen[str], httpx.Client]]:
    """One process with these faults."""
    command = (sys.executable, "-m", "runner.testbed", "serve", "--port", "0", "--pages", "16")
    with subprocess.Popen(
        [*command, *switches], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().rsplit(" ", 1)[1].strip()
            with httpx.Client(base_url=url, timeout=_PATIENCE_S) as client:
                yield process, client
        finally:
            if process.poll() is None:
                process.kill()


def test_a_killed_server_breaks_off_its_answers_without_a_word() -> None:
    with server("--die-after-steps", "5", "--die-as", "killed") as (process, client):
        with pytest.raises(httpx.TransportError):
            client.post("/v1/chat/completions", json=REQUEST)

        assert process.wait(_PATIENCE_S) == -signal.SIGKILL
        assert process.stderr is not None
        assert "exception" not in process.stderr.read()


def test_a_stalled_scheduler_fails_the_health_check_and_wakes_both_watchdogs() -> None:
    switches = (
        "--stall-scheduler-after-steps 2 --health-check-timeout 0.2 "
        "--soft-watchdog-timeout 0.5 --watchdog-timeout 3"
    )
    health: list[int] = []
    with server(*switches.split()) as (process, client):
        assert client.get("/health").status_code == 200
        body = {**REQUEST, "stream": True}
        with (
            pytest.raises(httpx.TransportError),
            client.stream("POST", "/v1/chat/completions", json=body) as answer,
        ):
            lines = answer.iter_lines()
            next(lines)  # told by the second step; the third one will stand still
            while 503 not in health:
                health.append(client.get("/health").status_code)
            list(lines)
        assert health[-1] == 503

        assert process.wait(_PATIENCE_S) == -signal.SIGKILL
        assert process.stderr is not None
        log = process.stderr.read()
    for line in (
        "Health check failed.",
        "self.soft=True)",
        "self.soft=False)",
        "SIGQUIT received.",
    ):
        assert line in log
