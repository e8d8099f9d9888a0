"""Finds calls of offered tools that stand in a text without any marker.

A detokenizer that drops special tokens, a parser that is off, or a model that writes plain JSON
leave only the function's name and its arguments. Only names of offered tools count: other JSON and
other code is data.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Final

from runner.judge.json_values import NOT_JSON, Json, parse_json_prefix
from runner.judge.markup_scan import MAX_SCANNED
from runner.judge.record import ToolSpec

MAX_BARE_CALLS: Final = 32

_NAME_KEYS: Final = "name|function|tool|tool_name|function_name|action|recipient_name|api"
_ARGUMENT_KEYS: Final = (
    "arguments|parameters|args|input|params|kwargs|tool_input|tool_args|tool_arguments|action_input"
    "|properties"
)
_QUOTE: Final = r"[\"'“”]"
_CLOSING_BRACE: Final = re.compile(r"\s{0,16}\}")
_NAMESPACE: Final = r"(?:functions?\.|tools?\.|default_api\.|api\.)?"


@dataclass(frozen=True, slots=True)
class BareCall:
    """`form` is the id of a catalogue entry without markers."""

    start: int
    end: int
    form: str
    is_on_own_line: bool


def find_bare_calls(text: str, tools: Sequence[ToolSpec]) -> list[BareCall]:
    """The outermost calls in order of place, at most MAX_BARE_CALLS of each tool."""
    found: list[BareCall] = []
    for tool in tools:
        if tool.name and tool.name in text:
            found += islice(_calls_of(text, tool), MAX_BARE_CALLS)
    found.sort(key=lambda call: (call.start, -call.end))
    outermost: list[BareCall] = []
    for call in found:
        if not outermost or call.end > outermost[-1].end:
            outermost.append(call)
    return outermost


def _calls_of(text: str, tool: ToolSpec) -> Iterator[BareCall]:
    for form in _forms(tool.name, tuple(tool.properties)):
        for match in _matches(text, form.expression):
            end = _end_of_call(text, match, form, tool)
            if end is not None:
                start = match.start("call")
                yield BareCall(start, end, form.id, _is_own_line(text, start, end))


def _matches(text: str, expression: re.Pattern[str]) -> Iterator[re.Match[str]]:
    yield from expression.finditer(text, 0, MAX_SCANNED)
    if len(text) > MAX_SCANNED:
        yield from expression.finditer(text, max(MAX_SCANNED, len(text) - MAX_SCANNED))


@dataclass(frozen=True, slots=True)
class _Form:
    id: str
    expression: re.Pattern[str]


@lru_cache(maxsize=256)
def _forms(name: str, properties: tuple[str, ...]) -> tuple[_Form, ...]:
    word = rf"(?<![\w.]){_NAMESPACE}{re.escape(name)}(?!\w)"
    quoted = rf"{_QUOTE}{_NAMESPACE}{re.escape(name)}{_QUOTE}"
    keys = "|".join(re.escape(key) for key in properties) or r"(?!)"
    name_key, argument_key = (
        f"{_QUOTE}(?:{_NAME_KEYS}){_QUOTE}",
        f"{_QUOTE}(?:{_ARGUMENT_KEYS}){_QUOTE}",
    )
    id_key = f"{_QUOTE}(?:id|type|index|call_id|tool_call_id){_QUOTE}"
    id_field = rf"(?:{id_key}\s{{0,4}}:\s{{0,4}}[^,{{}}\n]{{1,60}},\s{{0,8}})?"
    shapes = (
        (
            "json_call",
            rf"(?P<call>\{{\s{{0,16}}{id_field}{name_key}\s{{0,4}}:\s{{0,4}}{quoted}\s{{0,16}},"
            rf"\s{{0,16}}(?:{_QUOTE}type{_QUOTE}\s{{0,4}}:[^,]{{1,24}},\s{{0,8}})?"
            rf"{argument_key}\s{{0,4}}:\s{{0,16}}(?P<payload>\S))",
        ),
        (
            "json_call",
            rf"(?P<call>\{{\s{{0,16}}{argument_key}\s{{0,4}}:\s{{0,4}}(?P<payload>\{{)"
            rf"[^{{}}\n]{{0,2000}}\}}\s{{0,16}},\s{{0,16}}{name_key}\s{{0,4}}:\s{{0,4}}{quoted})",
        ),
        (
            "json_call",
            rf"(?P<call>\{{\s{{0,16}}{id_field}{name_key}\s{{0,4}}:\s{{0,4}}{quoted}\s{{0,16}}\}})",
        ),
        (
            "json_call",
            rf"(?P<call>\{{\s{{0,16}}{quoted}\s{{0,4}}:\s{{0,4}}(?P<payload>\{{)"
            rf"(?=\s{{0,16}}{_QUOTE}(?:{keys}){_QUOTE}))",
        ),
        ("pythonic", rf"(?m)(?P<call>^[ \t]{{0,8}}(?:\[\s{{0,4}})?(?:print\(\s{{0,4}})?{word}\()"),
        ("pythonic", rf"(?P<call>\[\s{{0,4}}{word}\()"),
        (
            "name_and_json",
            rf"(?P<call>(?:(?:^|(?<=[\n>｜|\]]))[ \t]{{0,4}}(?:function)?{word}"
            rf"|(?<![\w.])functions\.{re.escape(name)}(?!\w))"
            rf"(?::\d{{1,3}})?\s{{0,4}}(?:json|code|```json)?\s{{0,4}}(?P<payload>\{{)"
            rf"(?=\s{{0,16}}(?:{_QUOTE}?(?:{keys}){_QUOTE}?\s{{0,4}}:|\}})))",
        ),
        ("name_and_json", rf"(?P<call>(?:^|(?<=[\n>｜|\] ]))call:{word}\s{{0,2}}(?P<payload>\{{))"),
        ("name_and_json", rf"(?P<call>\bto={word})(?=\s{{0,4}}(?:json|code|<|\{{|\Z))"),
        ("name_and_json", rf"(?P<call>\A\s{{0,8}}{word}[ \t]{{0,4}}\n\s{{0,8}}(?:{keys})\n)"),
        (
            "name_tag",
            rf"(?P<call><{re.escape(name)}>\s{{0,16}}(?:\{{|</{re.escape(name)}>|<(?:{keys})>))",
        ),
        (
            "react",
            rf"(?m)(?P<call>^\s{{0,4}}\**Action\**\s?:\**\s{{0,4}}{word}\W{{0,4}}$"
            rf"(?:\n[^\n]{{0,200}}){{0,2}}?\n\s{{0,4}}\**Action[ _]Input)",
        ),
    )
    return tuple(_Form(form, re.compile(shape)) for form, shape in shapes)


def _end_of_call(text: str, match: re.Match[str], form: _Form, tool: ToolSpec) -> int | None:
    """Where the call ends, None if it is not a call after all."""
    end_of_match = match.end("call")
    if form.id == "pythonic":
        return _end_of_pythonic(text, end_of_match, tool)
    if form.id == "name_tag":
        closing = text.find(f"</{tool.name}>", end_of_match - len(tool.name) - 3)
        return closing + len(tool.name) + 3 if closing >= 0 else end_of_match
    start = match.start("payload") if "payload" in match.groupdict() else -1
    if start < 0:
        return end_of_match
    value, end = parse_json_prefix(text, start)
    if value is NOT_JSON:
        # Torn, or no JSON: the call runs to the end of its paragraph.
        paragraph_end = text.find("\n\n", end_of_match)
        return paragraph_end if paragraph_end >= 0 else len(text)
    if isinstance(value, dict) and not _may_be_arguments(value, tool):
        return None
    end = max(end, end_of_match)
    closing_brace = _CLOSING_BRACE.match(text, end)
    return closing_brace.end() if form.id == "json_call" and closing_brace else end


def _may_be_arguments(value: dict[str, Json], tool: ToolSpec) -> bool:
    """False for a definition of the function, and for data that shares no key with it."""
    if value.get("type") == "object" and isinstance(value.get("properties"), dict):
        return False
    if not value or not tool.properties:
        return True
    nested = value.get("arguments")
    return any(key in tool.properties for key in value) or isinstance(nested, dict)


def _end_of_pythonic(text: str, start: int, tool: ToolSpec) -> int | None:
    """The offset behind the line, where the rest of it is arguments and closing brackets."""
    end = text.find("\n", start)
    line = text[start : end if end >= 0 else len(text)][:4000]
    body = line.rstrip(" \t;,`")
    if not body.endswith((")", "]")) and end >= 0:
        return None
    arguments = body.rstrip(")] ").strip()
    keyword = re.match(r"([A-Za-z_]\w*)\s*=(?!=)", arguments)
    if keyword is not None:
        is_call = not tool.properties or keyword[1] in tool.properties
    else:
        is_call = not arguments or arguments[0] in "\"'[{-0123456789"
    return start + len(body) if is_call else None


def _is_own_line(text: str, start: int, end: int) -> bool:
    line_start = text.rfind("\n", 0, start) + 1
    return not text[line_start:start].strip(" \t>*-`") and not text[end : end + 40].split("\n")[
        0
    ].strip(" \t;,.`)]}")
