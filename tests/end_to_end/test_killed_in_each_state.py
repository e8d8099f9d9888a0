"""Killed in whichever state, a campaign leaves a stack that the next start restores."""

import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.control.ports import free_port
from tests.end_to_end.processes import ask_store, decisive, decisive_running, wait_for
from tests.fakes import supervised
from tests.fakes.controlled_configs import FAKES, tool

pytestmark = pytest.mark.end_to_end

UNIT = "held.service"
PATIENCE_S = 120.0
NO_EVIDENCE = 3

CAMPAIGN = """
campaign: held
question: What is left behind?
stack: held
factors: {arm: [wanted], concurrency: [1]}
workload: {sessions: 1, rounds: 1, max_tokens: 20, stream: false, deadlines: {first_token_s: 600}}
schedule: {blocks: 1}
"""
STACK = """
stack: held
description: A unit that runs as somebody left it, reached over ssh.
model: m
may_restart: true
hosts:
  gpu1:
    ssh: {ssh}
    become: [env]
    systemctl: {systemctl}
    drop_ins: {folder}/drop-ins
services:
  server:
    controller: systemd
    host: gpu1
    unit: held.service
    port: {port}
    command: {command}
    server_info: /server_info
    flush_cache: /flush_cache
    ready_within_s: 600
factors:
  arm:
    wanted: {{args: [wanted], verify: [{{server_info: arm, equals: wanted}}]}}
"""


class HeldStack:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        port = free_port()
        command = [sys.executable, str(FAKES / "held_server.py"), str(folder), str(port)]
        text = STACK.format(
            ssh=json.dumps([*tool("ssh", folder), "root@gpu1"]),
            systemctl=json.dumps(tool("systemctl", folder)),
            folder=folder,
            port=port,
            command=json.dumps(command),
        )
        for name in ("stacks", "campaigns", "units"):
            (folder / name).mkdir()
        (folder / "campaigns" / "held.yaml").write_text(CAMPAIGN, "utf-8")
        (folder / "stacks" / "held.yaml").write_text(text, "utf-8")
        words = " ".join(f'"{word}"' for word in [*command, "as-found"])
        (folder / "units" / UNIT).write_text(f"[Service]\nExecStart={words}\n", "utf-8")
        supervised.start(folder, UNIT, [*command, "as-found"], {})

    def hold(self, what: str) -> None:
        (self.folder / "hold").write_text(what, "ascii")

    def release(self) -> None:
        (self.folder / "hold").unlink()

    def wait_until_held(self, what: str) -> None:
        wait_for((self.folder / f"held-{what}").exists, what=what, patience_s=PATIENCE_S)

    def arm_of_the_unit(self) -> str:
        pid = supervised.pid_of(self.folder, UNIT)
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[-2].decode()

    def has_drop_in(self) -> bool:
        return any(self.folder.glob("drop-ins/*/*.conf"))

    def states(self) -> list[object]:
        return [state for (state,) in ask_store(self.folder, "SELECT state FROM run ORDER BY id")]

    def close(self) -> None:
        supervised.stop(self.folder, UNIT)


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[HeldStack]:
    made = HeldStack(tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("what", "state"),
    [
        ("restart", "applying"),
        ("health", "verifying"),
        ("warm-up", "warming"),
        ("session", "driving"),
        ("drain", "settling"),
        ("restart-without-drop-in", "done"),
    ],
    ids=["applying", "verifying", "warming", "driving", "settling", "restoring"],
)
def test_the_next_start_restores_what_a_killed_one_left(
    what: str, state: str, stack: HeldStack
) -> None:
    stack.hold(what)
    with decisive_running("run", "held", configs=stack.folder) as killed:
        stack.wait_until_held(what)
        killed.send_signal(signal.SIGKILL)
        assert killed.wait(PATIENCE_S) == -signal.SIGKILL
    assert stack.states() == [state]
    stack.release()
    assert ask_store(stack.folder, "SELECT count(*) FROM stack_lease") == [(1,)]

    ended = decisive("run", "held", configs=stack.folder)

    assert ended.returncode in (0, NO_EVIDENCE), ended.stderr
    printed = ended.stdout + ended.stderr
    assert "brought back what a killed worker had left changed: server" in printed
    assert stack.arm_of_the_unit() == "as-found"
    assert not stack.has_drop_in()
    assert ask_store(stack.folder, "SELECT count(*) FROM stack_lease") == [(0,)]
    assert stack.states() == (["done"] if state == "done" else ["stopped", "done"])
