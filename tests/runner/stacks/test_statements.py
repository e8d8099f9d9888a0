"""What a service says and is, asked of itself."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from db.clock import SystemClock
from runner.campaign.campaign import Levels
from runner.control.process import hold_process
from runner.errors import StackError
from runner.observe.log_follower import FileFollower
from runner.stacks.arm_proof import prove_arm
from runner.stacks.running_stack import RunningStack
from runner.stacks.service_launch import plan_launches
from runner.stacks.start_log import StartLog
from runner.stacks.statements import environment_of, statements_of
from tests.runner.campaign.files import stack

TEXT = """\
stack: pd
description: A router before prefill and decode.
model: m
may_restart: true
services:
  router: {controller: process, role: router, command: [a], port: 1, models: /v1/models}
  prefill:
    {controller: process, role: prefill, command: [a], port: 2, server_info: /i, log: process}
  decode: {controller: process, role: decode, command: [a], port: 3, server_info: /i}
factors:
  keys:
    bf16:
      verify:
        - {server_info: "ranks.*.keys", equals: bf16}
        - {log: "pool of (\\\\d+) bytes", equals: 256, at: [prefill]}
  free: {yes: {}}
"""
LEVELS: Levels = {"keys": "bf16", "free": "yes", "concurrency": 1}
RANKS = {2: ["bf16", "bf16"], 3: ["bf16", "fp8"]}


def answer(request: httpx.Request) -> httpx.Response:
    if request.url.path == "/v1/models":
        return httpx.Response(200, json={"data": [{"id": "m"}]})
    assert request.url.port is not None
    return httpx.Response(200, json={"ranks": [{"keys": each} for each in RANKS[request.url.port]]})


@pytest.fixture
def running(tmp_path: Path) -> Iterator[RunningStack]:
    """Its prefill wrote two lines, the second one in an envelope of journald."""
    envelope = json.dumps({"MESSAGE": "a pool of 256 bytes", "_SYSTEMD_UNIT": "p.service"})
    log = tmp_path / "prefill.log"
    log.write_text(f"starting\n{envelope}\n", "utf-8")
    launches = plan_launches(stack(TEXT), LEVELS, ports={}, python="")
    settings = stack(TEXT).launch_settings(LEVELS)
    logs = {"prefill": StartLog(FileFollower(log))}
    yield RunningStack("m", settings, launches, {}, {}, logs)
    logs["prefill"].close()


async def test_every_process_and_every_rank_is_asked_and_the_router_is_not(
    running: RunningStack,
) -> None:
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as http:
        said = await statements_of(stack(TEXT), LEVELS, running, http=http, clock=SystemClock())
    proof = prove_arm(stack(TEXT), LEVELS, said)

    assert [(each.service, each.holds) for each in proof.results] == [
        ("prefill", True),
        ("prefill", True),
        ("decode", False),
    ]
    (failure,) = proof.failures
    assert failure.found == "fp8", "its second rank"
    assert proof.unverifiable == ("free",)


async def test_a_report_that_is_none_is_a_fault_of_the_stack(running: RunningStack) -> None:
    def broken(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, text="[]")

    async with httpx.AsyncClient(transport=httpx.MockTransport(broken)) as http:
        with pytest.raises(StackError, match="router reported a list at"):
            await statements_of(stack(TEXT), LEVELS, running, http=http, clock=SystemClock())


async def test_a_report_that_is_no_json_is_said_to_be_none(running: RunningStack) -> None:
    def page(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, text="<html>Log in</html>")

    async with httpx.AsyncClient(transport=httpx.MockTransport(page)) as http:
        with pytest.raises(
            StackError, match=r"router gave no report .*: what it answered is no JSON"
        ):
            await statements_of(stack(TEXT), LEVELS, running, http=http, clock=SystemClock())


def test_the_environment_is_that_of_the_process_itself(tmp_path: Path) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)
    command = ["sh", "-c", f"echo > {started}; sleep 60; true"]
    service = hold_process(command, env={"POOL": "x = y"}, log_path=tmp_path / "log")

    try:
        service.release()
        started.read_text()  # what becomes another program has no variables for a moment
        read = environment_of(service)
    finally:
        service.stop()

    assert read is not None and read["POOL"] == "x = y"


@pytest.mark.parametrize(
    ("factor", "unverifiable"),
    [
        ("{cool: {request: {temperature: 0}}, as-it-is: {}}", ()),
        ("{cool: {request: {temperature: 0}}, as-it-is: {args: [--hot]}}", ("sampling",)),
        ("{cool: {}, as-it-is: {}}", ("sampling",)),
    ],
)
def test_what_lies_in_our_requests_alone_needs_nobodys_word(
    factor: str, unverifiable: tuple[str, ...]
) -> None:
    text = TEXT[: TEXT.index("factors:")] + f"factors: {{sampling: {factor}}}\n"
    levels: Levels = {"sampling": "cool", "concurrency": 1}

    assert prove_arm(stack(text), levels, {}).unverifiable == unverifiable
