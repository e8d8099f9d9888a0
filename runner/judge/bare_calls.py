"""Finds calls of offered tools that stand in a text without any marker.

A detokenizer that drops special tokens, a parser that is off, or a model that writes plain JSON
leave only the function's name and its arguments. Only names of offered tools count: other JSON and
other code is data.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from runner.judge.bare_call_forms import BareForm, bare_forms
from runner.judge.json_values import NOT_JSON, Json, parse_json_prefix
from runner.judge.markup_scan import MAX_SCANNED
from runner.judge.record import ToolSpec

MAX_BARE_CALLS: Final = 32

_CLOSING_BRACE: Final = re.compile(r"\s{0,16}\}")


@dataclass(frozen=True, slots=True)
class BareCall:
    """`form` is the id of a catalogue entry without markers."""

    start: int
    end: int
    form: str
    begins_line: bool
    ends_line: bool


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
    for form in bare_forms(tool.name, tuple(tool.properties)):
        for match in _matches(text, form.expression):
            end = _end_of_call(text, match, form, tool)
            if end is not None:
                start = match.start()
                begins, ends = _begins_line(text, start), _ends_line(text, end)
                yield BareCall(start, end, form.id, begins, ends)


def _matches(text: str, expression: re.Pattern[str]) -> Iterator[re.Match[str]]:
    yield from expression.finditer(text, 0, MAX_SCANNED)
    if len(text) > MAX_SCANNED:
        yield from expression.finditer(text, max(MAX_SCANNED, len(text) - MAX_SCANNED))


def _end_of_call(text: str, match: re.Match[str], form: BareForm, tool: ToolSpec) -> int | None:
    """Where the call ends, None if it is not a call after all."""
    end_of_match = match.end()
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


def _begins_line(text: str, start: int) -> bool:
    line_start = text.rfind("\n", 0, start) + 1
    return not text[line_start:start].strip(" \t>*-`")


def _ends_line(text: str, end: int) -> bool:
    rest = text[end : end + 40].split("\n")[0]
    return not rest.strip(" \t;,.`)]}")
