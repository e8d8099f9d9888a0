"""SGLang's two readings of DSML: by invoke as the text streams, by section when it is whole.

They let through, drop and swallow what SGLang's do, so that the same bad text leaks in one mode and
is a call, or nothing, in the other. Text that may belong to a mark is held back; at the end of a
stream what is still held is dropped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from runner.testbed.chat_request import ToolDefinition
from runner.testbed.tool_parser import ParsedCall, ParserOutput

SECTION_OPEN = "<｜DSML｜tool_calls>"
_INVOKE_MARK = "<｜DSML｜invoke"
_MARKS = ("｜DSML｜", "<｜", "</｜")
_SECTION = re.compile(r"<｜DSML｜tool_calls>(.*?)</｜DSML｜tool_calls>", re.DOTALL)
_INVOKE = re.compile(
    r'<｜DSML｜invoke\s+name="([^"]+)"\s*>(.*?)(</｜DSML｜invoke>|\Z)\n?', re.DOTALL
)
_PARAMETER = re.compile(
    r'<｜DSML｜parameter\s+name="([^"]+)"\s+string="(true|false)"\s*>(.*?)</｜DSML｜parameter>',
    re.DOTALL,
)


class SglangStreamParser:
    """Invoke by invoke; the section's own tags do not matter, nor whether the tool is known."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> list[ParserOutput]:
        self._held += text
        if not _may_hold_a_mark(self._held):
            told, self._held = self._held, ""
            return [told] if told else []
        outputs: list[ParserOutput] = []
        while (invoke := _INVOKE.search(self._held)) is not None and invoke.group(3):
            before = self._held[: invoke.start()].replace(SECTION_OPEN, "").strip()
            outputs += [before] if before else []
            outputs.append(ParsedCall(invoke.group(1), _arguments(invoke.group(2))))
            self._held = self._held[invoke.end() :]
        return outputs

    def finish(self) -> list[ParserOutput]:
        """Of an invoke that never ended, the name has been told and nothing valid after it."""
        invoke = _INVOKE.search(self._held)
        self._held = ""
        return [] if invoke is None else [ParsedCall(invoke.group(1), "{")]


class SglangWholeParser:
    """The complete answer at once: a section counts only if it is whole."""

    def __init__(self, tools: Sequence[ToolDefinition]) -> None:
        self._names = {tool.name for tool in tools}
        self._text = ""

    def feed(self, text: str) -> list[ParserOutput]:
        self._text += text
        return []

    def finish(self) -> list[ParserOutput]:
        text, opened_at = self._text, self._text.find(SECTION_OPEN)
        if opened_at < 0:
            return [text] if text else []
        section = _SECTION.search(text)
        invokes = _INVOKE.finditer(section.group(1)) if section is not None else ()
        try:
            calls = [ParsedCall(each.group(1), _valid_arguments(each.group(2))) for each in invokes]
        except ValueError:
            return [text]
        before = text[:opened_at]
        known = [call for call in calls if call.name in self._names]
        return [*([before] if before else []), *known]


def _may_hold_a_mark(text: str) -> bool:
    if any(mark in text for mark in _MARKS):
        return True
    longest = max(map(len, _MARKS))
    endings = (text[-length:] for length in range(1, min(longest, len(text)) + 1))
    return any(mark.startswith(ending) for ending in endings for mark in _MARKS)


def _arguments(body: str) -> str:
    """The JSON of a body, or the body itself where it is none."""
    try:
        return _valid_arguments(body)
    except ValueError:
        return body.strip()


def _valid_arguments(body: str) -> str:
    """Parameters, or one JSON object. Raises ValueError for a body that is a bad object."""
    if body.strip().startswith("{"):
        return json.dumps(json.loads(body), ensure_ascii=False)
    values = {name: _value(kind, text) for name, kind, text in _PARAMETER.findall(body)}
    return json.dumps(values, ensure_ascii=False)


def _value(is_string: str, text: str) -> object:
    if is_string == "true":
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
