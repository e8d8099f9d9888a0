"""Starts and ends one unit of systemd with other words and variables, by a drop-in of our own.

The unit file stays untouched: the drop-in is the last one read, and removing it is the way back.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from runner.control.host import Host
from runner.control.machine import Machine, run_well
from runner.control.restore_steps import RestoreStep
from runner.errors import StackControlError

DROP_IN = "zz-decisive.conf"
CHANGE_DEADLINE_S = 300.0
STATUS_DEADLINE_S = 10.0
_STATUS_KEPT_S = 2.0
_PROPERTIES = ("LoadState", "ActiveState", "MainPID", "ExecMainStatus")
_RUNNING = frozenset({"active", "activating", "reloading", "deactivating"})
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


class UnitState(NamedTuple):
    """`main_pid` is 0 where it has no process."""

    is_known: bool
    is_running: bool
    main_pid: int
    exit_status: int


@dataclass(slots=True)
class SystemdUnit:
    """One unit on one host, with the drop-in that an arm needs. `argv` empty: its own ExecStart."""

    unit: str
    host: Host
    machine: Machine
    argv: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    clock: Callable[[], float] = time.monotonic
    mark: None = None
    log_path: Path | None = None
    has_changed: bool = False
    _was_released: bool = False
    _has_begun: bool = False
    _was_ended: bool = False
    _seen: UnitState | None = None
    _seen_s: float = 0.0

    @property
    def drop_in_folder(self) -> str:
        return f"{self.host.drop_ins}/{self.unit}.d"

    def state(self) -> UnitState:
        """Raises StackControlError where systemd cannot be asked."""
        words = [*self.host.systemctl, "show", self.unit, f"--property={','.join(_PROPERTIES)}"]
        said = run_well(self.machine, self.host.argv(words), deadline_s=STATUS_DEADLINE_S)
        return read_state(said)

    def restore_steps(self, part: str) -> tuple[RestoreStep, ...]:
        """Back to the unit as it is now.

        Raises StackControlError where there is no such unit, or where it is in somebody's campaign.
        """
        now = self.state()
        if not now.is_known:
            raise StackControlError(f"{self.host.name} has no unit {self.unit}")
        if self._has_drop_in():
            raise StackControlError(
                f"{self.unit} on {self.host.name} is in an arm already, by "
                f"{self.drop_in_folder}/{DROP_IN}: a campaign of another store runs there, or was "
                "killed; let it end or run `decisive stack restore` with its store, or remove that "
                "file and restart the unit"
            )
        last = "restart" if now.is_running else "stop"
        commands = (
            ("rm", "-f", f"{self.drop_in_folder}/{DROP_IN}"),
            (*self.host.systemctl, "daemon-reload"),
            (*self.host.systemctl, last, self.unit),
        )
        return tuple(
            RestoreStep(part, self.host.argv(words, privileged=True)) for words in commands
        )

    def release(self) -> None:
        """Writes the drop-in and restarts the unit. Raises StackControlError."""
        if self._was_released:
            return
        self._was_released = True
        text = drop_in_text(self.argv, self.env).encode()
        self._change("mkdir", "-p", self.drop_in_folder)
        self.has_changed = True
        self._change("tee", f"{self.drop_in_folder}/{DROP_IN}", stdin=text)
        self._change(*self.host.systemctl, "daemon-reload")
        self._has_begun = True
        self._change(*self.host.systemctl, "restart", self.unit)
        self._seen = None

    def stop(self, grace_s: float = 0.0) -> None:
        if self._has_begun:
            self._change(*self.host.systemctl, "stop", self.unit)
            self._has_begun, self._was_ended = False, True

    def members(self) -> tuple[int, ...]:
        """Its processes are systemd's, and perhaps another machine's."""
        return ()

    @property
    def exit_status(self) -> int | None:
        """As systemd said it a moment ago; None as well where it cannot be asked."""
        if not self._has_begun:
            return 0 if self._was_ended else None
        if self._seen is None or self.clock() - self._seen_s >= _STATUS_KEPT_S:
            try:
                self._seen = self.state()
            except StackControlError:
                return None
            self._seen_s = self.clock()
        return None if self._seen.is_running else self._seen.exit_status

    def environment(self) -> Mapping[str, str]:
        """Of its main process. Raises StackControlError."""
        words = ["cat", f"/proc/{self.state().main_pid}/environ"]
        said = run_well(self.machine, self.host.argv(words, privileged=True))
        return read_environment(said)

    def _has_drop_in(self) -> bool:
        path = f"{self.drop_in_folder}/{DROP_IN}"
        found = self.machine.run(self.host.argv(("ls", path)), deadline_s=STATUS_DEADLINE_S)
        return found.stdout.strip() == path

    def _change(self, *words: str, stdin: bytes = b"") -> None:
        run_well(
            self.machine,
            self.host.argv(words, privileged=True),
            stdin=stdin,
            changes=True,
            deadline_s=CHANGE_DEADLINE_S,
        )


def drop_in_text(argv: Sequence[str], env: Mapping[str, str]) -> str:
    """A drop-in with these words as its ExecStart, if any, and these variables.

    Quoted as systemd.syntax(7) and systemd.service(5) have it: %, and in commands $, are doubled.
    """
    lines = ["[Service]"]
    if argv:
        words = " ".join(_quoted(word).replace("$", "$$") for word in argv)
        lines += ["ExecStart=", f"ExecStart={words}"]
    lines += [f"Environment={_quoted(f'{name}={value}')}" for name, value in env.items()]
    return "\n".join(lines) + "\n"


def read_state(said: str) -> UnitState:
    """From the lines of `systemctl show`; in a rehearsal there are none, and the unit runs."""
    values = dict(line.split("=", 1) for line in said.splitlines() if "=" in line)
    return UnitState(
        is_known=values.get("LoadState", "loaded") == "loaded",
        is_running=values.get("ActiveState", "active") in _RUNNING,
        main_pid=_number(values.get("MainPID")),
        exit_status=_number(values.get("ExecMainStatus")),
    )


def read_environment(said: str) -> Mapping[str, str]:
    """From the bytes of /proc/PID/environ: NAME=value, each ended by a zero byte."""
    return dict(entry.split("=", 1) for entry in said.split("\0") if "=" in entry)


def _quoted(word: str) -> str:
    escaped = "".join(_ESCAPES.get(character, character) for character in word)
    return '"' + escaped.replace("%", "%%") + '"'


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() else 0
