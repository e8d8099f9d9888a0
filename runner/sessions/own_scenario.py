"""A scenario that an engineer wrote: found by its path, held to its form, and never waited for.

The file beside the campaign's own is taken before anything that Python could import, and is never
put on the import path: it may be named like a module of the standard library.
"""

import ctypes
import importlib
import importlib.util
import sys
import threading
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Final, TypeVar

from runner.campaign.campaign import Workload, scenario_file
from runner.errors import ConfigError
from runner.judge.json_values import JsonObject
from runner.judge.record import DueAnswer, DueCall
from runner.sessions.dialogue import Dialogue, Round, Step
from runner.sessions.request_check import check_request
from runner.sessions.standard_output import kept_off_standard_output

ANSWERS_WITHIN_S: Final = 10.0

_T = TypeVar("_T")


class NoDialogueError(Exception):
    """What a scenario gave is no dialogue; says what it is instead."""


class OwnScenario:
    """Whatever it does costs at most the session that asked: a fault, a wrong type, no end."""

    def __init__(self, made: object, *, within_s: float = ANSWERS_WITHIN_S) -> None:
        self.name = _name_of(made)
        self._made = made
        self._within_s = within_s

    def dialogue(self, session_index: int) -> Dialogue:
        """Raises NoDialogueError, TimeoutError, and whatever the engineer's own code raises."""
        ask = getattr(self._made, "dialogue", None)
        if not callable(ask):
            raise NoDialogueError("it has no method dialogue(session_index)")
        given = _in_time(lambda: ask(session_index), self._within_s)
        return _copied(_checked(given))


def own_scenario(
    path: str, workload: Workload, *, folder: Path, within_s: float = ANSWERS_WITHIN_S
) -> OwnScenario:
    """`package.module:name`, called with the workload. Raises ConfigError."""
    file = folder / scenario_file(path)
    module_name, _, name = path.partition(":")
    try:
        kind = _in_time(lambda: _named(file, module_name, name), within_s)
        scenario, another = (
            OwnScenario(_in_time(lambda: kind(workload), within_s), within_s=within_s)
            for _ in range(2)
        )
        _require_the_same(scenario, another)
    except Exception as error:
        raise ConfigError(
            f"workload.scenario: {path} gives no scenario: {_in_words(error)}"
            f"{_where(error, module_name, file, folder)}"
        ) from error
    return scenario


def _named(file: Path, module_name: str, name: str) -> Callable[[Workload], object]:
    module = (
        _module_of(file, module_name) if file.is_file() else importlib.import_module(module_name)
    )
    kind: Callable[[Workload], object] = getattr(module, name)
    return kind


def _require_the_same(one: OwnScenario, another: OwnScenario) -> None:
    """`another` is asked twice, as an arm or a process that was asked something before."""
    first = one.dialogue(0)
    another.dialogue(0)
    if another.dialogue(0) != first:
        raise NoDialogueError(
            "dialogue(0) was another one when it was asked for again, and sessions must be the "
            "same in every arm and process: draw from random.Random(key), and use no clock and "
            "no count of what was asked before"
        )


def _module_of(file: Path, module_name: str) -> ModuleType:
    """Under a name of its own, which `dataclass` and `pickle` find it by.

    What it prints in threads of its own goes to standard error, too.
    """
    name = f"own scenario {module_name}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None, "a file that ends in .py has a loader"
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    vars(module)["print"] = partial(print, file=sys.stderr)
    spec.loader.exec_module(module)
    return module


def _in_words(error: Exception) -> str:
    if isinstance(error, NoDialogueError | TimeoutError):
        return str(error)
    return f"{type(error).__name__}: {error}"


def _where(error: Exception, module_name: str, file: Path, folder: Path) -> str:
    """Where a module was looked for that could not be found: it itself, or one that lies there."""
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing is None:
        return ""
    if f"{module_name}.".startswith(f"{missing}.") and not file.is_file():
        return f"; put it beside the campaign file as {file}, or where Python imports from"
    beside = folder / missing.replace(".", "/")
    if beside.is_dir() or beside.with_suffix(".py").is_file():
        return (
            "; only the file that the campaign names is taken from beside it: put all into that "
            f"one, or {folder} on PYTHONPATH"
        )
    return ""


# What is never waited for


class _StopItself(BaseException):
    """Thrown into a thread whose time is over; no engineer's `except Exception` holds it."""


def _in_time(ask: Callable[[], _T], within_s: float) -> _T:
    """What `ask` gives, in a thread that nobody waits for any longer than that.

    Raises TimeoutError, and what `ask` raises. A thread that loops in Python is ended; one that
    waits for something else is left behind, and the process ends without it.
    """
    given: list[_T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            with kept_off_standard_output():
                given.append(ask())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, name="own scenario", daemon=True)
    thread.start()
    thread.join(within_s)
    if thread.is_alive() and thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(_StopItself)
        )
        raise TimeoutError(f"it had not answered after {within_s:g} s")
    for error in raised:
        if isinstance(error, Exception):
            raise error
        raise NoDialogueError(f"it raised {type(error).__name__}: {error}") from error
    return given[0]


# What a dialogue must be


def _name_of(made: object) -> str:
    name = getattr(made, "name", None)
    if not isinstance(name, str) or not name.strip():
        raise NoDialogueError(f"its `name` must be a text, found {_kind(name)}")
    return name


def _checked(given: object) -> Dialogue:
    if not isinstance(given, Dialogue):
        raise NoDialogueError(f"dialogue() must give a Dialogue, found {_kind(given)}")
    for name in ("key", "system"):
        text = getattr(given, name)
        _require(text, str, f"the {name} of a dialogue must be a text")
        if not _can_be_stored(text):
            raise NoDialogueError(f"the {name} of a dialogue holds half of a surrogate pair")
    _require_all(given.tools, dict, "the tools of a dialogue must be a tuple of objects")
    _require_all(given.rounds, Round, "the rounds of a dialogue must be a tuple of Round")
    if not given.rounds:
        raise NoDialogueError("a dialogue needs a round at least")
    for number, played in enumerate(given.rounds, start=1):
        _require_all(played.steps, Step, f"the steps of round {number} must be a tuple of Step")
        if not played.steps:
            raise NoDialogueError(f"round {number} needs a step at least")
        for step in played.steps:
            _check_step(step, given, f"in round {number}")
    first = given.rounds[0].steps[0]
    if not (given.system or first.say or first.recorded):
        raise NoDialogueError("its first step says nothing, and no server answers no messages")
    return given


def _check_step(step: Step, dialogue: Dialogue, where: str) -> None:
    _require_all(step.say, dict, f"{where} `say` must be a tuple of messages")
    if step.recorded is not None:
        _require_all(step.recorded, dict, f"{where} `recorded` must be a tuple of messages")
    if step.tools is not None:
        _require_all(step.tools, dict, f"{where} `tools` must be a tuple of objects")
    _require(step.tool_result, str, f"{where} `tool_result` must be a text")
    if step.due is not None:
        _require(step.due, (DueCall, DueAnswer), f"{where} `due` must be a DueCall or a DueAnswer")
    if isinstance(step.due, DueCall):
        _require(step.due.name, str, f"{where} the name of the due call must be a text")
        _require(step.due.arguments, Mapping, f"{where} the due arguments must be an object")
    if isinstance(step.due, DueAnswer):
        texts = f"{where} `must_contain` must be a tuple of texts"
        _require_all(step.due.must_contain, str, texts)
    tools = dialogue.tools if step.tools is None else step.tools
    messages = step.say if step.recorded is None else step.recorded
    result: JsonObject = {"role": "tool", "content": step.tool_result}
    try:
        check_request((*messages, result), tools, fields=step.request, due=step.due)
    except ValueError as error:
        raise NoDialogueError(f"{where} a request cannot be made: {error}") from None


def _copied(dialogue: Dialogue) -> Dialogue:
    """What the scenario goes on to change, such as a tool that its dialogues share, is its own: how
    many dialogues it has made by then depends on the number of processes.
    """
    return replace(
        dialogue,
        tools=deepcopy(dialogue.tools),
        rounds=tuple(Round(tuple(map(_copied_step, each.steps))) for each in dialogue.rounds),
    )


def _copied_step(step: Step) -> Step:
    due = step.due
    if isinstance(due, DueCall):
        due = DueCall(due.name, deepcopy(dict(due.arguments)))
    return replace(
        step,
        say=deepcopy(step.say),
        due=due,
        recorded=deepcopy(step.recorded),
        request=deepcopy(dict(step.request)),
        tools=deepcopy(step.tools),
    )


def _can_be_stored(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _require(value: object, kind: type | tuple[type, ...], what: str) -> None:
    if not isinstance(value, kind):
        raise NoDialogueError(f"{what}, found {_kind(value)}")


def _require_all(values: object, kind: type, what: str) -> None:
    if not isinstance(values, tuple):
        raise NoDialogueError(f"{what}, found {_kind(values)}")
    for value in values:
        if not isinstance(value, kind):
            raise NoDialogueError(f"{what}, found one of {_kind(value)}")


def _kind(value: object) -> str:
    return "none" if value is None else f"a {type(value).__name__}"
