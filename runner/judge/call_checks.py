"""Whether a structured call can be used: known function, JSON arguments, required parameters.

Knows the offered tools; knows nothing of what the dialogue wanted.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from runner.judge.assembled_message import AssembledCall
from runner.judge.flags import Flag
from runner.judge.json_values import (
    NOT_JSON,
    Json,
    JsonObject,
    has_duplicate_key,
    parse_json,
    parse_json_prefix,
)
from runner.judge.record import ToolSpec

_FATAL: Final = frozenset(
    {
        Flag.UNKNOWN_FUNCTION,
        Flag.BROKEN_JSON,
        Flag.TRUNCATED_ARGS,
        Flag.DUPLICATED_ARGS,
        Flag.DOUBLE_ENCODED_ARGS,
        Flag.ARGUMENTS_OBJECT,
        Flag.MISSING_REQUIRED,
    }
)
_PYTHON_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}
_JSON_MARK: Final = re.compile(r"[\"{}\[\]]")
_STARTED_WORD: Final = re.compile(r"[\w.+\-]{1,24}\Z")


@dataclass(frozen=True, slots=True)
class CheckedCall:
    """`arguments` are the parsed ones, None where they are no object. `problem` is for people."""

    call: AssembledCall
    arguments: JsonObject | None
    flags: tuple[Flag, ...]
    problem: str = ""

    @property
    def is_usable(self) -> bool:
        return not _FATAL.intersection(self.flags)


def check_call(call: AssembledCall, tools: Sequence[ToolSpec]) -> CheckedCall:
    tool = next((tool for tool in tools if tool.name == call.name), None)
    flags: list[Flag] = []
    problems: list[str] = []
    if tool is None:
        flags += _unknown_name_flags(call.name, tools)
        problems.append(f"no tool of the name {call.name[:80]!r} was offered")
    arguments, fault, problem = _read_arguments(call.arguments)
    if fault is not None:
        flags.append(fault)
        problems.append(problem)
    if call.has_object_arguments:
        flags.append(Flag.ARGUMENTS_OBJECT)
        problems.append("its arguments came as an object, not as a text")
    if tool is not None and arguments is not None:
        missing = [key for key in tool.required if key not in arguments]
        if missing:
            flags.append(Flag.MISSING_REQUIRED)
            problems.append(f"it lacks {', '.join(missing)}")
        flags += _schema_flags(arguments, tool)
    if arguments and has_duplicate_key(call.arguments):
        flags.append(Flag.DUPLICATE_KEY)
    return CheckedCall(call, arguments, tuple(flags), "; ".join(problems))


def _unknown_name_flags(name: str, tools: Sequence[ToolSpec]) -> list[Flag]:
    is_cut = bool(name) and any(
        tool.name.startswith(name) or tool.name.endswith(name) for tool in tools
    )
    return [Flag.UNKNOWN_FUNCTION, Flag.NAME_CUT] if is_cut else [Flag.UNKNOWN_FUNCTION]


def _read_arguments(text: str) -> tuple[JsonObject | None, Flag | None, str]:
    """The arguments, or what is wrong with them and a phrase that says it."""
    text = text.strip()
    if not text:
        # An empty text is how several servers write a call without parameters.
        return {}, None, ""
    value, end = parse_json_prefix(text)
    rest = text[end:].strip()
    if value is NOT_JSON:
        if is_cut_json(text):
            return None, Flag.TRUNCATED_ARGS, "its arguments are cut off"
        return None, Flag.BROKEN_JSON, "its arguments are no JSON"
    if rest:
        if parse_json_prefix(rest)[0] is not NOT_JSON:
            return None, Flag.DUPLICATED_ARGS, "its arguments hold more than one JSON value"
        return None, Flag.BROKEN_JSON, "more text follows its JSON arguments"
    if isinstance(value, dict):
        return value, None, ""
    if isinstance(value, str) and isinstance(parse_json(value), dict):
        return None, Flag.DOUBLE_ENCODED_ARGS, "its arguments are JSON inside a JSON text"
    return None, Flag.BROKEN_JSON, "its arguments are no JSON object"


def is_cut_json(text: str) -> bool:
    """Whether `text` is the beginning of a JSON object or array that stops too early.

    Follows strings and brackets only, so that it stays linear.
    """
    closers: list[str] = []
    position = 0
    while (mark := _JSON_MARK.search(text, position)) is not None:
        position = mark.end()
        character = mark[0]
        if character == '"':
            end = _end_of_string(text, mark.start())
            if end is None:
                return bool(closers) and _has_json_shape(text[: mark.start()] + '""', closers)
            position = end
        elif character in "{[":
            closers.append("}" if character == "{" else "]")
        elif not closers or closers.pop() != character:
            return False
    return text.lstrip()[:1] in ("{", "[") and bool(closers) and _has_json_shape(text, closers)


def _has_json_shape(text: str, closers: Sequence[str]) -> bool:
    """Whether closing what is open, after dropping a started word, gives JSON."""
    kept = text.rstrip()
    endings = ("", "null", ":null")
    candidates = [kept, kept.removesuffix(",")]
    closing = "".join(reversed(closers))
    word = _STARTED_WORD.search(kept[-32:])
    if word is not None:
        candidates.append(kept[: -len(word[0])])
    return any(
        parse_json(candidate + ending + closing) is not NOT_JSON
        for candidate in candidates
        for ending in endings
    )


def _end_of_string(text: str, start: int) -> int | None:
    position = start + 1
    while (end := text.find('"', position)) >= 0:
        backslashes = 0
        while text[end - 1 - backslashes] == "\\":
            backslashes += 1
        if backslashes % 2 == 0:
            return end + 1
        position = end + 1
    return None


def _schema_flags(arguments: JsonObject, tool: ToolSpec) -> list[Flag]:
    flags: list[Flag] = []
    if any(key not in tool.properties for key in arguments):
        flags.append(Flag.UNKNOWN_ARGUMENT)
    if any(not _fits(value, tool.properties.get(key, "")) for key, value in arguments.items()):
        flags.append(Flag.TYPE_MISMATCH)
    return flags


def _fits(value: Json, kinds: str) -> bool:
    """Whether the value has one of the JSON types in `kinds` ("string|null"); unknown types fit."""
    names = [kind for kind in kinds.split("|") if kind in _PYTHON_TYPES]
    if not names:
        return True
    if isinstance(value, bool):
        return "boolean" in names
    if isinstance(value, float) and value.is_integer() and "integer" in names:
        return True
    return any(isinstance(value, _PYTHON_TYPES[name]) for name in names)
