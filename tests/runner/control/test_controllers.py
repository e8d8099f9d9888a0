"""Commands of controllers: what words they are, what they wait for, how they are undone."""

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.control.gpu_memory import GpuMemory, read_taken, visible_to
from runner.control.host import Host
from runner.control.machine import Completed, RealMachine, RehearsedMachine, run_well
from runner.control.restore_steps import RestoreStep, restore, steps_from_json, steps_to_json
from runner.control.service_commands import Filling, filled_words
from runner.errors import StackControlError

SHELL_WORDS = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8),
    min_size=1,
    max_size=4,
)


@given(words=SHELL_WORDS)
@settings(max_examples=40, deadline=None)
def test_the_shell_behind_ssh_reads_the_very_words(words: list[str]) -> None:
    """ssh hands its words, joined by blanks, to a shell of the other side."""
    argv = Host(ssh=("sh", "-c")).argv(["printf", "%s\\0", *words])

    told = subprocess.run(argv, capture_output=True, check=True).stdout

    assert told == b"".join(word.encode() + b"\0" for word in words)


def test_rights_are_asked_for_on_the_other_side() -> None:
    host = Host(ssh=("ssh", "gpu1"), become=("sudo", "-n"))

    assert host.argv(["cat", "a b"], privileged=True) == ("ssh", "gpu1", "sudo -n cat 'a b'")
    assert host.argv(["cat", "a b"]) == ("ssh", "gpu1", "cat 'a b'")


FILLING = Filling(("serve", "--x", "a b"), {"A": "1", "B": "$(x)"}, "rev 7", str.upper)


@pytest.mark.parametrize(
    ("words", "filled"),
    [
        (["run", "{command}"], ("RUN", "serve", "--x", "a b")),
        (["{env}"], ("A=1", "B=$(x)")),
        (["{env:-e}"], ("-e", "A=1", "-e", "B=$(x)")),
    ],
)
def test_words_that_stand_for_several_become_several(
    words: list[str], filled: tuple[str, ...]
) -> None:
    assert filled_words(words, FILLING) == filled


def test_a_value_makes_no_new_word_and_no_placeholder() -> None:
    filling = Filling(("{found}", '"; rm -rf /'), found="r1")

    (word,) = filled_words(['[{"value": {command_json}}]'], filling)

    assert word == '[{"value": ["{found}", "\\"; rm -rf /"]}]'
    assert filled_words(["--to={found}"], filling) == ("--to=r1",)


def test_a_command_that_fails_is_told_with_what_it_said() -> None:
    argv = ["sh", "-c", "echo no such deployment >&2; exit 3"]

    with pytest.raises(StackControlError, match="ended with 3: no such deployment"):
        run_well(RealMachine(), argv)


def test_a_command_that_does_not_end_is_ended() -> None:
    with pytest.raises(StackControlError, match=r"had no end within 0\.1 s"):
        RealMachine().run(["sleep", "60"], deadline_s=0.1)


def test_what_a_command_leaves_behind_holds_nobody_up(tmp_path: Path) -> None:
    """A process in a session of its own outlives the kill, and keeps the output open."""
    left = tmp_path / "left.pid"
    own_session = f"setsid sh -c 'echo $$ > {left}; exec sleep 600'"

    with pytest.raises(StackControlError, match="had no end within"):
        RealMachine().run(["sh", "-c", f"{own_session} & sleep 600"], deadline_s=1.0)

    if left.exists():  # on a machine that is busy it may not have come so far
        os.kill(int(left.read_text("ascii")), signal.SIGKILL)


def test_a_program_that_is_missing_is_named() -> None:
    with pytest.raises(StackControlError, match="cannot run 'no-such-program': No such file"):
        RealMachine().run(["no-such-program"])


def test_a_rehearsal_tells_commands_and_what_they_are_given() -> None:
    said: list[str] = []

    done = RehearsedMachine(said.append).run(["tee", "a b"], stdin=b"x\ny\n", changes=True)

    assert done == Completed(0, "", "")
    assert said == ["run  tee 'a b'", "     | x", "     | y"]


def test_a_part_that_cannot_be_restored_keeps_no_other_from_it() -> None:
    steps = [
        RestoreStep("one", ("sh", "-c", "exit 1")),
        RestoreStep("one", ("touch", "/no/such/folder/file")),
        RestoreStep("two", ("true",)),
    ]

    failures = restore(steps, RealMachine())

    assert len(failures) == 1
    assert failures[0].startswith("one is not as it was found: 'sh -c 'exit 1'' ended with 1")


def test_steps_are_kept_with_the_lease_as_they_are() -> None:
    steps = (RestoreStep("one", ("rm", "-f", "a b")),)

    assert steps_from_json(steps_to_json(steps, host="h")) == steps
    assert steps_to_json((), host="h") == {}


class Gpus:
    """A machine whose GPUs hold so much at each look."""

    def __init__(self, *taken: str) -> None:
        self.taken = list(taken)

    def run(self, argv: Sequence[str], **_: object) -> Completed:
        return Completed(0, self.taken.pop(0) if len(self.taken) > 1 else self.taken[0], "")


def test_memory_that_comes_back_late_is_waited_for() -> None:
    slept: list[float] = []
    machine = Gpus("0, 80000\n1, 10\n", "0, 900\n1, 10\n", "0, 400\n1, 10\n")

    said = GpuMemory(Host(), machine, clock=lambda: 0.0, sleep=slept.append).wait_until_free(  # type: ignore[arg-type]
        {"0": 300, "1": 10}
    )

    assert said is None
    assert len(slept) == 2


def test_memory_that_does_not_come_back_is_told_with_its_gpu() -> None:
    times = iter([0.0, 0.0, 61.0])
    machine = Gpus("0, 10\n1, 79000\n")
    gpus = GpuMemory(Host("gpu1"), machine, clock=lambda: next(times), sleep=lambda _: None)  # type: ignore[arg-type]

    assert gpus.wait_until_free({"0": 10, "1": 500}) == (
        "GPU 1 of gpu1 still holds 79000 MiB 60 s after the end of the service; "
        "before it were 500 MiB"
    )


def test_a_machine_without_gpus_is_not_waited_for() -> None:
    gpus = GpuMemory(Host(nvidia_smi=("no-such-program",)), RealMachine())

    assert gpus.taken_mib() is None
    assert gpus.wait_until_free({}) is None


@pytest.mark.parametrize(
    ("variables", "seen"),
    [
        ({}, ["0", "1", "2"]),
        ({"CUDA_VISIBLE_DEVICES": "2,0"}, ["2", "0"]),
        ({"CUDA_VISIBLE_DEVICES": ""}, ["0", "1", "2"]),
        ({"CUDA_VISIBLE_DEVICES": "GPU-7f3a"}, ["0", "1", "2"]),
        ({"CUDA_VISIBLE_DEVICES": "0,9"}, ["0", "1", "2"]),
    ],
)
def test_the_gpus_of_a_service_are_those_that_its_variables_name(
    variables: dict[str, str], seen: list[str]
) -> None:
    assert list(visible_to({"0": 1, "1": 2, "2": 3}, variables)) == seen


def test_a_gpu_that_does_not_tell_is_left_out() -> None:
    assert read_taken("0, 12\n1, [N/A]\nno devices\n") == {"0": 12}
