"""A unit's drop-in says to systemd exactly what the arm needs."""

import re
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.control.host import Host
from runner.control.machine import Completed
from runner.control.systemd_unit import SystemdUnit, drop_in_text, read_environment, read_state
from runner.errors import StackControlError
from tests.fakes import systemctl

# No zero byte can stand in an argument, and systemd refuses other control characters.
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)


class ScriptedMachine:
    """Answers `systemctl show` and keeps what it was told to run."""

    def __init__(self, *states: str) -> None:
        self.states = list(states)
        self.told: list[tuple[tuple[str, ...], bytes, bool]] = []
        self.files: list[str] = []
        self.refused = ""

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        changes: bool = False,
        deadline_s: float = 0.0,
    ) -> Completed:
        self.told.append((tuple(argv), stdin, changes))
        if self.refused and self.refused in argv:
            return Completed(1, "", "Read-only file system")
        if argv[0] == "ls":
            is_there = argv[1] in self.files
            return Completed(0 if is_there else 2, argv[1] if is_there else "", "")
        is_question = "show" in argv
        return Completed(0, self.states.pop(0) if is_question else "", "")

    def hold(self, argv: Sequence[str], *, env: Mapping[str, str], log_path: object) -> None:
        raise AssertionError("systemd starts the service")


RUNS = "LoadState=loaded\nActiveState=active\nMainPID=42\nExecMainStatus=0\n"
STOPPED = "LoadState=loaded\nActiveState=failed\nMainPID=0\nExecMainStatus=137\n"


def unit(machine: ScriptedMachine, **settings: object) -> SystemdUnit:
    return SystemdUnit("a.service", Host(become=("sudo",)), machine, **settings)  # type: ignore[arg-type]


def test_the_drop_in_replaces_the_command_and_adds_variables() -> None:
    text = drop_in_text(["/bin/serve", "--name", 'a "b" $HOME 100%'], {"POOL": "x y"})

    # systemd.service(5), systemd.syntax(7): an empty ExecStart comes first, % and $ are doubled.
    assert text == (
        "[Service]\n"
        "ExecStart=\n"
        'ExecStart="/bin/serve" "--name" "a \\"b\\" $$HOME 100%%"\n'
        'Environment="POOL=x y"\n'
    )


def test_without_a_command_the_units_own_stays() -> None:
    assert drop_in_text([], {"A": "1"}) == '[Service]\nEnvironment="A=1"\n'


@given(words=st.lists(WORDS, max_size=4), value=WORDS)
def test_whatever_a_level_says_arrives_as_it_is(words: list[str], value: str) -> None:
    lines = drop_in_text(["/bin/serve", *words], {"A": value}).split("\n")

    def read(line: str) -> list[str]:
        text = line.partition("=")[2]
        return [systemctl.unquoted(found) for found in systemctl.WORD.finditer(text)]

    assert [word.replace("$$", "$") for word in read(lines[2])] == ["/bin/serve", *words]
    assert read(lines[3]) == [f"A={value}"]


def test_a_restart_is_the_last_of_four_commands_and_nothing_is_done_twice() -> None:
    machine = ScriptedMachine()
    service = unit(machine, env={"A": "1"})

    service.release()
    service.release()

    folder = "/run/systemd/system/a.service.d"
    assert machine.told == [
        (("sudo", "mkdir", "-p", folder), b"", True),
        (("sudo", "tee", f"{folder}/zz-decisive.conf"), b'[Service]\nEnvironment="A=1"\n', True),
        (("sudo", "systemctl", "daemon-reload"), b"", True),
        (("sudo", "systemctl", "restart", "a.service"), b"", True),
    ]


@pytest.mark.parametrize(("state", "last"), [(RUNS, "restart"), (STOPPED, "stop")])
def test_the_way_back_is_the_unit_as_it_was_found(state: str, last: str) -> None:
    steps = unit(ScriptedMachine(state)).restore_steps("server")

    assert [step.argv[1:] for step in steps] == [
        ("rm", "-f", "/run/systemd/system/a.service.d/zz-decisive.conf"),
        ("systemctl", "daemon-reload"),
        ("systemctl", last, "a.service"),
    ]


def test_a_unit_that_does_not_exist_is_found_out_before_anything_is_changed() -> None:
    machine = ScriptedMachine("LoadState=not-found\nActiveState=inactive\n")

    with pytest.raises(StackControlError, match=re.escape("this machine has no unit a.service")):
        unit(machine).restore_steps("server")


def test_a_unit_that_is_in_somebody_elses_arm_is_not_taken_for_the_one_that_was_found() -> None:
    machine = ScriptedMachine(RUNS)
    path = "/run/systemd/system/a.service.d/zz-decisive.conf"
    machine.files.append(path)

    with pytest.raises(StackControlError, match="is in an arm already") as raised:
        unit(machine).restore_steps("server")

    assert path in str(raised.value) and "stack restore" in str(raised.value)
    assert not [argv for argv, _, changes in machine.told if changes]


def test_a_unit_whose_drop_in_could_not_be_written_is_neither_stopped_nor_given_back() -> None:
    machine = ScriptedMachine()
    machine.refused = "mkdir"
    service = unit(machine)

    with pytest.raises(StackControlError, match="Read-only file system"):
        service.release()
    service.stop()

    assert [argv[1] for argv, _, _ in machine.told] == ["mkdir"]
    assert not service.has_changed


def test_systemd_is_asked_now_and_then_whether_the_unit_still_runs() -> None:
    times = iter([0.0, 1.0, 3.0, 3.0])
    service = unit(ScriptedMachine(RUNS, STOPPED), clock=lambda: next(times))

    before_its_start = service.exit_status
    service.release()
    seen = [service.exit_status for _ in range(3)]

    assert before_its_start is None
    assert seen == [None, None, 137]


def test_a_unit_that_is_starting_runs() -> None:
    assert read_state("LoadState=loaded\nActiveState=activating\nMainPID=0\n").is_running


def test_the_environment_of_a_process_is_read_whole() -> None:
    assert read_environment("A=1\0B=x=y\0C=\0junk\0") == {"A": "1", "B": "x=y", "C": ""}
