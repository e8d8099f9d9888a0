"""Runs on servers that others use too, and arms that somebody else has to bring about."""

import json
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from db.reads.runs import run_proof
from db.store import open_store
from db.vocabulary import RunFlag
from tests.fakes import supervised
from tests.fakes.controlled_configs import NAME, ControlledStack, external
from tests.runner.execute.campaign_bench import Watching, run_once, store_url, stored_runs

pytestmark = pytest.mark.end_to_end


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Callable[..., ControlledStack]]:
    stacks: list[ControlledStack] = []

    def make(**settings: object) -> ControlledStack:
        stacks.append(external(tmp_path, **settings))  # type: ignore[arg-type]
        return stacks[-1]

    yield make
    for stack in stacks:
        stack.close()


def chat(port: int) -> None:
    body = {"model": "oracle", "messages": [{"role": "user", "content": "hello"}]}
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/v1/chat/completions",
        data=json.dumps(body).encode(),
        headers={"content-type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        answer.read()


def test_requests_that_were_not_ours_flag_the_run(
    made: Callable[..., ControlledStack], tmp_path: Path
) -> None:
    stack = made(levels=["fp8"], sessions=4)
    watching = Watching(on_session=lambda _: chat(stack.port))

    run_once(tmp_path, watching=watching)

    (run,) = stored_runs(tmp_path)
    assert (run.state, RunFlag.FOREIGN_TRAFFIC in run.flags) == ("done", True)
    with open_store(store_url(tmp_path)) as store, store.session() as session:
        proof = run_proof(session.connection(), run.id)
    assert proof is not None
    # Four sessions of two rounds of two turns, and a stranger's request after each of them.
    assert proof.exposure["requests"] == [{"service": "server", "counted": 20, "sent": 16}]
    assert any("counted 20 requests and we sent 16" in note for note in watching.notes)


def test_a_run_that_is_alone_is_not_flagged(
    made: Callable[..., ControlledStack], tmp_path: Path
) -> None:
    made(levels=["fp8"], sessions=4)

    run_once(tmp_path)

    (run,) = stored_runs(tmp_path)
    assert (run.state, RunFlag.FOREIGN_TRAFFIC in run.flags) == ("done", False)


def test_an_arm_can_be_an_endpoint_of_others_with_a_key_of_its_own(
    made: Callable[..., ControlledStack], tmp_path: Path
) -> None:
    here = made(levels=["fp8", "elsewhere"], sessions=4)
    there = ControlledStack(tmp_path)
    supervised.start(tmp_path, "there", [*there.server, "--tells-headers"], {})
    path = tmp_path / "stacks" / "oracle.yaml"
    level = (
        f"    elsewhere: {{url: 'http://127.0.0.1:{there.port}', api_key_env: THERE, "
        "verify: [{models: data.*.id, equals: oracle}]}\n"
    )
    path.write_text(path.read_text("utf-8") + "\n" + level, "utf-8")

    try:
        run_once(tmp_path, environment={"THERE": "sk-of-the-other-one"})
    finally:
        supervised.stop(tmp_path, "there")

    by_arm = {run.arm_id: run for run in stored_runs(tmp_path)}
    assert [by_arm[1].state, by_arm[2].state] == ["done", "done"], by_arm[2].reason
    assert by_arm[1].launch_id != by_arm[2].launch_id
    told = (tmp_path / "there.journal").read_text("utf-8")
    assert told.count("chat with Bearer sk-of-the-other-one") >= 16
    assert here.port != there.port and b"sk-of" not in (tmp_path / "decisive.db").read_bytes()


def test_an_arm_that_others_must_bring_about_is_asked_for_and_waited_for(
    made: Callable[..., ControlledStack], tmp_path: Path
) -> None:
    stack = made(levels=["bf16"], sessions=4)

    class Engineer(Watching):
        """Does what is asked."""

        def note(self, text: str) -> None:
            super().note(text)
            if "please" in text:
                supervised.stop(tmp_path, NAME)
                supervised.start(tmp_path, NAME, [*stack.server, "--index-k-dtype", "bf16"], {})

    engineer = Engineer()

    run_once(tmp_path, watching=engineer)

    (run,) = stored_runs(tmp_path)
    assert run.state == "done", (run.reason, engineer.notes)
    (asked,) = [note for note in engineer.notes if "please" in note]
    assert "server (http://127.0.0.1:" in asked
    assert "add --index-k-dtype bf16" in asked


def test_an_arm_that_nobody_brings_about_is_invalid_after_its_time(
    made: Callable[..., ControlledStack], tmp_path: Path
) -> None:
    made(levels=["bf16"], sessions=4, keys="    switch_within_s: 0.5\n")

    run_once(tmp_path)

    (run,) = stored_runs(tmp_path)
    assert (run.state, run.n_ended) == ("invalid", 0)
    assert "should be 'bf16', found 'fp8'" in (run.reason or "")
