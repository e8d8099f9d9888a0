"""Starts and ends one service by commands that its stack file gives: docker, kubectl, anything.

Values fill words and never make new ones out of one, so that nothing in a level can become a
command.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from runner.control.host import Host
from runner.control.machine import Machine, run_well
from runner.control.restore_steps import RestoreStep
from runner.errors import StackControlError

CHANGE_DEADLINE_S = 900.0
STATUS_DEADLINE_S = 10.0
_STATUS_KEPT_S = 2.0

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CommandTemplates:
    """As the stack file has them. `start`, `stop` and `restore` are several commands in a row."""

    start: tuple[Words, ...]
    stop: tuple[Words, ...]
    status: Words = ()
    found: Words = ()
    restore: tuple[Words, ...] = ()


@dataclass(frozen=True, slots=True)
class Filling:
    """What the placeholders of commands stand for; `fill` knows those of places."""

    argv: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    found: str = ""
    fill: Callable[[str], str] = lambda text: text


def filled_words(words: Sequence[str], filling: Filling) -> Words:
    """`{command}` and `{env}` as whole words make several words, all else makes one of one."""
    return tuple(filled for word in words for filled in _filled(word, filling))


def _filled(word: str, filling: Filling) -> Words:
    if word == "{command}":
        return filling.argv
    if word == "{env}":
        return tuple(f"{name}={value}" for name, value in filling.env.items())
    if word.startswith("{env:") and word.endswith("}"):
        flag = word[len("{env:") : -1]
        return tuple(
            part for name, value in filling.env.items() for part in (flag, f"{name}={value}")
        )
    # What stands for itself is filled first: a value may look like a placeholder.
    pieces = filling.fill(word).replace("{found}", filling.found).split("{command_json}")
    return (json.dumps(list(filling.argv)).join(pieces),)


@dataclass(slots=True)
class CommandedService:
    """A service that commands start and stop, as an arm needs it."""

    name: str
    templates: CommandTemplates
    filling: Filling
    host: Host
    machine: Machine
    clock: Callable[[], float] = time.monotonic
    mark: None = None
    log_path: Path | None = None
    has_changed: bool = False
    _has_begun: bool = False
    _was_ended: bool = False
    _seen: int | None = None
    _seen_s: float | None = None

    def restore_steps(self, part: str) -> tuple[RestoreStep, ...]:
        """Back to what is there now. Raises StackControlError where that cannot be found out."""
        found = ""
        if self.templates.found:
            argv = self.host.argv(filled_words(self.templates.found, self.filling))
            found = run_well(self.machine, argv).strip()
        filling = Filling(self.filling.argv, self.filling.env, found, self.filling.fill)
        back = self.templates.restore or self.templates.stop
        return tuple(
            RestoreStep(part, self.host.argv(filled_words(words, filling), privileged=True))
            for words in back
        )

    def release(self) -> None:
        """Raises StackControlError."""
        if not self._has_begun:
            self._has_begun = self.has_changed = True
            self._change(self.templates.start)

    def stop(self, grace_s: float = 0.0) -> None:
        if self._has_begun:
            self._change(self.templates.stop)
            self._has_begun, self._was_ended = False, True

    def members(self) -> tuple[int, ...]:
        """Its processes are not known."""
        return ()

    @property
    def exit_status(self) -> int | None:
        """By the status command, where there is one; what it ended with is not known."""
        if not self._has_begun:
            return 0 if self._was_ended else None
        if not self.templates.status:
            return None
        if self._seen_s is None or self.clock() - self._seen_s >= _STATUS_KEPT_S:
            argv = self.host.argv(filled_words(self.templates.status, self.filling))
            try:
                status = self.machine.run(argv, deadline_s=STATUS_DEADLINE_S).status
            except StackControlError:
                return None
            self._seen, self._seen_s = (status or None), self.clock()
        return self._seen

    def _change(self, commands: Sequence[Words]) -> None:
        for words in commands:
            argv = self.host.argv(filled_words(words, self.filling), privileged=True)
            run_well(self.machine, argv, changes=True, deadline_s=CHANGE_DEADLINE_S)
