"""Campaigns over stacks that others run: brought into the arm, proved, and given back."""

import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from db.launches import fingerprints_of
from db.reads.runs import run_proof
from db.store import open_store
from tests.fakes.controlled_configs import (
    FAKES,
    FOUND_ARGS,
    NAME,
    UNIT,
    ControlledStack,
    docker,
    kubernetes,
    systemd_over_ssh,
    tool,
)
from tests.fakes.oracle_configs import write_oracle_configs
from tests.runner.execute.campaign_bench import Watching, run_once, store_url, stored_runs

pytestmark = pytest.mark.end_to_end

Making = Callable[..., ControlledStack]


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Callable[..., ControlledStack]]:
    """Makes a stack, and ends it with the test."""
    stacks: list[ControlledStack] = []

    def make(kind: Making, *, levels: Sequence[str], **campaign: object) -> ControlledStack:
        stacks.append(kind(tmp_path, levels=levels, **campaign))
        return stacks[-1]

    yield make
    for stack in stacks:
        stack.close()


def found_on_path(
    stack: ControlledStack, names: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stack file names the programs as on any machine; the stand-ins are first on the path."""
    put_on_path(stack.folder, {name: FAKES / f"{name}.py" for name in names}, monkeypatch)
    path = stack.folder / "stacks" / "oracle.yaml"
    text = path.read_text("utf-8")
    for name in names:
        words = json.dumps(tool(name, stack.folder))[1:-1]
        assert words in text
        text = text.replace(words, json.dumps(name))
    path.write_text(text, "utf-8")


def put_on_path(
    folder: Path, programs: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = folder / "bin"
    tools.mkdir()
    for name, program in programs.items():
        words = shlex.join([sys.executable, str(program), str(folder)])
        (tools / name).write_text(f'#!/bin/sh\nexec {words} "$@"\n', "utf-8")
        (tools / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")


def calls(folder: Path, name: str) -> list[str]:
    return (folder / name).read_text("utf-8").splitlines()


def test_a_unit_over_ssh_is_brought_into_each_arm_proved_and_given_back(
    made: Callable[..., ControlledStack], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = made(systemd_over_ssh, levels=["fp8", "bf16"], sessions=4)
    found_on_path(stack, ("ssh", "systemctl", "journalctl"), monkeypatch)
    seen: list[str] = []
    watching = Watching(on_session=lambda _: seen.extend(stack.running_words(UNIT)))

    run_once(tmp_path, watching=watching)

    assert [run.state for run in stored_runs(tmp_path)] == ["done", "done"], watching.notes
    assert 'a "quoted" $HOME 100% \\ word; touch /tmp/x' in seen, "as the level has it"
    by_arm = {run.arm_id: run for run in stored_runs(tmp_path)}
    with open_store(store_url(tmp_path)) as store, store.session() as session:
        proof = run_proof(session.connection(), by_arm[2].id)
    assert proof is not None
    places = [(check["path"], check["found"]) for check in proof.verification]
    assert ("the process's variable POOL", "dtype aware; $(reboot)") in places
    assert all(check["holds"] for check in proof.verification)
    assert stack.running_words(UNIT)[-4:] == FOUND_ARGS
    assert not list((tmp_path / "drop-ins" / f"{UNIT}.d").iterdir())
    assert not Path("/tmp/x").exists()
    assert all("root@gpu1" in call for call in calls(tmp_path, "ssh-calls"))


def test_a_server_that_lies_about_its_keys_is_found_out_by_its_bytes(
    made: Callable[..., ControlledStack], tmp_path: Path
) -> None:
    made(systemd_over_ssh, levels=["lying"], sessions=4)

    run_once(tmp_path)

    (run,) = stored_runs(tmp_path)
    assert (run.state, run.n_ended) == ("invalid", 0)
    assert "index_key_bytes_per_token should be 132, found 256" in (run.reason or "")


def test_containers_are_started_for_each_arm_and_none_is_left(
    made: Callable[..., ControlledStack], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stack = made(docker, levels=["fp8", "bf16"], sessions=4)
    found_on_path(stack, ("docker",), monkeypatch)

    run_once(tmp_path)

    assert [run.state for run in stored_runs(tmp_path)] == ["done", "done"]
    assert stack.running_words(NAME) == []
    started = [json.loads(call) for call in calls(tmp_path, "docker-calls")]
    (bf16,) = [call for call in started if call[0] == "run" and "bf16" in call]
    assert bf16[bf16.index("-e") + 1] == "POOL=dtype aware; $(reboot)"
    with open_store(store_url(tmp_path)) as store:
        facts = {each.service: each.facts for each in fingerprints_of(store, 1)}
    assert facts["server facts"]["image"] == "sha256:0123456789abcdef"


def test_a_deployment_goes_back_to_the_revision_that_was_found(
    made: Callable[..., ControlledStack], tmp_path: Path
) -> None:
    stack = made(kubernetes, levels=["fp8", "bf16"], sessions=4)

    run_once(tmp_path)

    assert [run.state for run in stored_runs(tmp_path)] == ["done", "done"]
    assert stack.running_words(NAME)[-4:] == FOUND_ARGS
    undone = [call for call in calls(tmp_path, "kubectl-calls") if "undo" in call]
    assert [json.loads(call)[-1] for call in undone] == ["--to-revision=1"]


def test_the_next_server_starts_when_the_gpu_is_free_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_oracle_configs(tmp_path, levels=["fp8"], sessions=4, blocks=2)
    put_on_path(tmp_path, {"nvidia-smi": FAKES / "nvidia_smi.py"}, monkeypatch)
    held, free = "0, 90000", "0, 120"
    (tmp_path / "gpu-memory").write_text("\n".join([free, held, held, free]), "ascii")

    run_once(tmp_path)

    assert [run.state for run in stored_runs(tmp_path)] == ["done", "done"]
    looks = (tmp_path / "gpu-looks").read_text("ascii").splitlines()
    assert looks[:4] == [free, held, held, free]
    with open_store(store_url(tmp_path)) as store:
        facts = {each.service: each.facts for each in fingerprints_of(store, 1)}
    assert facts["host this machine"]["gpus"][0]["name"] == "A GPU of the test"
