"""`decisive stack check` calls nothing ok that it has not seen."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from runner.control.machine import Completed, RunningService
from runner.control.ports import free_port
from runner.execute.stack_check import Finding, check_stack
from tests.runner.campaign.files import stack as stack_of

UNIT = "a.service"
RUNS = "LoadState=loaded\nActiveState=active\nMainPID=42\nExecMainStatus=0\n"
AWAY = Completed(255, "", "ssh: connect to host gpu7 port 22: No route to host")


class AnsweringMachine:
    """Answers the first command in which a word of `answers` stands, all others well."""

    def __init__(self, answers: Mapping[str, Completed]) -> None:
        self.answers = {"date": Completed(0, "0", ""), "show": Completed(0, RUNS, ""), **answers}
        self.asked: list[str] = []

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        changes: bool = False,
        deadline_s: float = 0.0,
    ) -> Completed:
        assert not changes
        said = " ".join(argv)
        self.asked.append(said)
        found = [answer for word, answer in self.answers.items() if word in said]
        return found[0] if found else Completed(0, "", "")

    def hold(
        self, argv: Sequence[str], *, env: Mapping[str, str], log_path: Path
    ) -> RunningService:
        raise AssertionError("a check starts nothing")


async def findings(service: str, machine: AnsweringMachine) -> dict[str, Finding]:
    text = (
        "stack: little\ndescription: A server.\nmodel: tiny\nmay_restart: true\n"
        "hosts: {gpu7: {ssh: [ssh, gpu7]}}\n"
        f"services:\n  server:\n    port: {free_port()}\n    server_info: /server_info\n{service}"
    )
    found = await check_stack(stack_of(text), addresses={}, environment={}, machine=machine)
    return {each.part: each for each in found}


SYSTEMD = f"    controller: systemd\n    host: gpu7\n    unit: {UNIT}\n    log: journal\n"


async def test_a_host_that_is_not_reached_is_asked_once_and_nothing_on_it_is_ok() -> None:
    machine = AnsweringMachine({"date": AWAY})

    found = await findings(SYSTEMD, machine)

    assert found["host gpu7"].is_ok is False and "No route to host" in found["host gpu7"].said
    for part in ("server systemd", "server log"):
        assert found[part] == Finding(part, None, "not asked: the host gpu7 was not reached")
    assert len(machine.asked) == 1


async def test_a_journal_is_ok_where_an_entry_of_it_was_seen() -> None:
    seen = await findings(SYSTEMD, AnsweringMachine({"journalctl": Completed(0, "{}\n", "")}))
    empty = await findings(SYSTEMD, AnsweringMachine({}))
    refused = await findings(SYSTEMD, AnsweringMachine({"journalctl": Completed(1, "", "no!")}))

    assert seen["server log"] == Finding("server log", True, "it can be followed (journal)")
    assert empty["server log"].is_ok is None
    assert f"the journal of gpu7 shows no entry of {UNIT}" in empty["server log"].said
    assert refused["server log"].is_ok is False and "no!" in refused["server log"].said


async def test_rights_to_a_unit_are_those_to_write_its_drop_in() -> None:
    there = await findings(SYSTEMD, AnsweringMachine({}))
    missing = await findings(SYSTEMD, AnsweringMachine({"test -w": Completed(1, "", "")}))

    assert there["server systemd"].said == f"{UNIT} on gpu7 runs; rights are there"
    assert missing["server systemd"].is_ok is False
    assert "no right to write /run/systemd/system" in missing["server systemd"].said


def commanded(commands: str = "", log: str = "none") -> str:
    return (
        "    controller: command\n    command: [serve]\n"
        f"    commands: {{start: [[docker, run]], stop: [[docker, rm]]{commands}}}\n"
        f"    log: {log}\n"
    )


async def test_commands_are_ok_where_one_of_them_was_asked() -> None:
    part, asked = "server command", ", status: [docker, inspect, it]"
    gone = Completed(1, "", "no such container")

    unasked = await findings(commanded(), AnsweringMachine({}))
    running = await findings(commanded(asked), AnsweringMachine({}))
    missing = await findings(commanded(asked), AnsweringMachine({"inspect": gone}))

    assert unasked[part].is_ok is None and unasked[part].said.startswith("not asked: ")
    assert running[part].is_ok is True
    assert missing[part].is_ok is None and "no such container" in missing[part].said


@pytest.mark.parametrize(
    ("code", "is_ok", "said"),
    [
        ("import sys; sys.exit('no such container')", False, "ended with 1: no such container"),
        ("import time; print('a line', flush=True); time.sleep(60)", True, "can be followed"),
        ("import time; time.sleep(60)", None, "not seen whether it can be followed"),
    ],
    ids=["it fails with a word", "it says something and goes on", "it says nothing"],
)
async def test_a_log_command_is_ok_where_it_speaks_and_goes_on(
    code: str, is_ok: bool | None, said: str
) -> None:
    log = f"command\n    log_command: {json.dumps([sys.executable, '-c', code])}"

    found = (await findings(commanded(log=log), AnsweringMachine({})))["server log"]

    assert found.is_ok is is_ok
    assert said in found.said


async def test_a_log_file_that_is_not_there_is_not_ok(tmp_path: Path) -> None:
    log = f"file\n    log_file: {tmp_path / 'none.log'}"

    found = (await findings(commanded(log=log), AnsweringMachine({})))["server log"]

    assert found.is_ok is False
