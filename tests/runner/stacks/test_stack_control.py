"""From arm to arm: what is started, kept, ended and undone, in which order."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from runner.campaign.campaign import RestartPolicy
from runner.control.machine import Completed
from runner.errors import StackControlError
from runner.stacks.running_stack import RunningStack
from runner.stacks.stack_control import StackControl, new_log, release_services
from tests.runner.campaign.files import stack

TEXT = """\
stack: pd
description: A router before prefill and decode, of systemd.
model: m
may_restart: true
services:
  router: {controller: systemd, role: router, unit: r.service, port: 1, needs: [prefill]}
  prefill: {controller: systemd, role: prefill, unit: p.service, port: 2, args_variable: A}
  decode: {controller: systemd, role: decode, unit: d.service, port: 3, args_variable: A}
factors:
  keys:
    fp8: {args: [fp8]}
    bf16: {args: [bf16]}
  cache:
    off: {}
    on: {at: [prefill], args: [cache]}
  batch:
    8: {at: [decode], args: [b8]}
    64: {at: [decode], args: [b64]}
  pool:
    big: {}
    small: {command: [pool, small], undo: [pool, big]}
"""
RUNS = "LoadState=loaded\nActiveState=active\nMainPID=1\n"


class Units:
    """Three units that run. `gpus` are answers of nvidia-smi, the last one for good."""

    def __init__(self, *gpus: str, broken: str = "") -> None:
        self.changes: list[str] = []
        self.gpus = list(gpus) or [""]
        self.broken = broken

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        changes: bool = False,
        deadline_s: float = 0.0,
    ) -> Completed:
        if argv[0] == "nvidia-smi":
            return Completed(0, self.gpus.pop(0) if len(self.gpus) > 1 else self.gpus[0], "")
        if not changes:
            return Completed(0, RUNS, "")
        said = " ".join(argv)
        if "mkdir" not in said and "daemon-reload" not in said:
            self.changes.append(stdin.decode().split("\n")[1] if stdin else said)
        return Completed(1 if self.broken and self.broken in said else 0, "", "no such thing")

    def hold(self, argv: Sequence[str], *, env: Mapping[str, str], log_path: Path) -> None:
        raise AssertionError("no process of ours is in this stack")


def control(units: Units) -> StackControl:
    return StackControl(stack(TEXT), units, Path("logs"))  # type: ignore[arg-type]


LEVELS = {"keys": "fp8", "cache": "off", "batch": 8, "pool": "big", "concurrency": 1}
SHARED = RestartPolicy.WHEN_NEEDED


def entered(made: StackControl, **levels: str | int) -> RunningStack:
    running = made.hold({**LEVELS, **levels}, label="r-1")
    made.enter_levels(running)
    release_services(running)
    return running


def test_services_start_after_those_that_they_need() -> None:
    units = Units()

    entered(control(units))

    started = [each for each in units.changes if "restart" in each]
    assert started.index("systemctl restart p.service") < started.index(
        "systemctl restart r.service"
    )
    assert 'Environment="A=fp8 b8"' in units.changes


def test_an_arm_keeps_what_it_does_not_change_and_what_needs_nothing_changed() -> None:
    made = control(Units())
    running = entered(made)

    def kept(**levels: str | int) -> frozenset[str]:
        return made.kept(running, {**LEVELS, **levels}, SHARED)

    assert kept() == {"router", "prefill", "decode"}
    assert kept(cache="on") == {"decode"}, "the router needs prefill"
    assert kept(batch=64) == {"router", "prefill"}
    assert kept(keys="bf16") == set()
    assert kept(pool="small") == set(), "a command may touch all of them"
    assert made.kept(running, LEVELS, RestartPolicy.EVERY_RUN) == set()


def test_only_what_is_not_kept_is_ended_and_started() -> None:
    units = Units()
    made = control(units)
    running = entered(made)
    units.changes.clear()
    levels = {**LEVELS, "cache": "on"}

    kept = made.kept(running, levels, SHARED)
    made.stop(running, kept=kept)
    release_services(made.hold(levels, label="r-2", current=running, kept=kept))

    assert [each for each in units.changes if "systemctl" in each] == [
        "systemctl stop r.service",
        "systemctl stop p.service",
        "systemctl restart p.service",
        "systemctl restart r.service",
    ]


def test_a_level_of_commands_is_entered_before_the_start_and_left_after_the_end() -> None:
    units = Units()
    made = control(units)

    made.stop(entered(made, pool="small"))

    assert units.changes[0] == "pool small"
    assert units.changes[-1] == "pool big"
    assert [step.argv for step in made.undo_steps({**LEVELS, "pool": "small"})] == [("pool", "big")]


def test_services_that_have_been_ended_are_not_taken_for_running_ones() -> None:
    made = control(Units())
    running = entered(made)

    made.stop(running)

    assert not made.can_stay(running, LEVELS, SHARED)
    assert made.kept(running, LEVELS, SHARED) == set()


def test_one_that_cannot_be_ended_keeps_no_other_from_it() -> None:
    units = Units(broken="stop d.service")
    made = control(units)
    running = entered(made)

    with pytest.raises(StackControlError, match=r"stop d\.service' ended with 1: no such thing"):
        made.stop(running)

    assert {"systemctl stop r.service", "systemctl stop p.service"} <= set(units.changes)


def test_the_next_start_waits_for_the_memory_of_the_gpus() -> None:
    made = control(Units("0, 100\n", "0, 90000\n", "0, 150\n"))

    made.stop(entered(made))  # it returns once no more is taken than before


def test_gpus_that_no_service_of_ours_may_use_are_not_waited_for() -> None:
    """A colleague's job took GPU 1 meanwhile."""
    units = Units("0, 100\n1, 0\n", "0, 90000\n1, 70000\n", "0, 150\n1, 70000\n")
    text = TEXT.replace("port: 2,", 'port: 2, env: {CUDA_VISIBLE_DEVICES: "0"},')
    text = text.replace("port: 1,", 'port: 1, env: {CUDA_VISIBLE_DEVICES: "0"},')
    text = text.replace("port: 3,", 'port: 3, env: {CUDA_VISIBLE_DEVICES: "0"},')
    made = StackControl(stack(text), units, Path("logs"))  # type: ignore[arg-type]

    made.stop(entered(made))

    assert units.gpus == ["0, 150\n1, 70000\n"]


def test_a_log_that_another_store_left_is_neither_read_nor_written(tmp_path: Path) -> None:
    for name in ("r-1-server.log", "r-1-server~2.log"):
        (tmp_path / name).write_text("index key pool: bf16", "utf-8")

    assert new_log(tmp_path, "r-1-server") == tmp_path / "r-1-server~3.log"
    assert new_log(tmp_path, "r-2-server") == tmp_path / "r-2-server.log"


def test_the_way_back_is_noted_for_every_unit() -> None:
    steps = control(Units()).restore_steps()

    assert [step.part for step in steps] == [
        p for p in ("decode", "prefill", "router") for _ in "123"
    ]
