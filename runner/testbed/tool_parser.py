"""Reads tool calls out of the model's text as it streams; what does not parse is passed on raw.

Strict: a block counts only if its grammar is right, its tools are known and their parameters are
those declared. Anything else comes out as the text it is, which is what a leak looks like.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from runner.testbed.chat_request import ToolDefinition

_MARK = "<｜DSML｜"
_BLOCK_END = "</｜DSML｜tool_calls>"
_NO_MARK = r"(?:(?!</?｜DSML｜).)*"
_PARAMETER = re.compile(
    rf'<｜DSML｜parameter name="([^"<>\n]+)" string="(true|false)">({_NO_MARK})'
    r"</｜DSML｜parameter>\n",
    re.DOTALL,
)
_INVOKE = re.compile(
    rf'<｜DSML｜invoke name="([^"<>\n]+)">\n((?:{_PARAMETER.pattern})*)</｜DSML｜invoke>\n',
    re.DOTALL,
)
_BLOCK = re.compile(rf"<｜DSML｜tool_calls>\n((?:{_INVOKE.pattern})+){_BLOCK_END}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """A call that may be executed; `arguments` is a JSON object as text."""

    name: str
    arguments: str


ParserOutput = str | ParsedCall


class StrictToolParser:
    """Feed text as it comes; what `feed` and `finish` return, joined, loses nothing."""

    def __init__(self, tools: Sequence[ToolDefinition]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._held = ""
        self._in_block = False

    def feed(self, text: str) -> list[ParserOutput]:
        """What is certain after this piece: text outside of blocks, calls of blocks that ended."""
        self._held += text
        outputs: list[ParserOutput] = []
        while True:
            found = self._block_end() if self._in_block else self._text_end()
            if found is None:
                break
            piece, self._held = self._held[:found], self._held[found:]
            if self._in_block:
                outputs += read_block(piece, self._tools) or [piece]
            elif piece:
                outputs.append(piece)
            self._in_block = not self._in_block
        if not self._in_block:
            outputs += self._certain_text()
        return outputs

    def finish(self) -> list[ParserOutput]:
        """The text that was held back for a block that never ended."""
        held, self._held = self._held, ""
        return [held] if held else []

    def _text_end(self) -> int | None:
        """Where the text before the next block ends."""
        position = self._held.find(_MARK)
        return None if position < 0 else position

    def _block_end(self) -> int | None:
        """Behind the mark that closes the block."""
        position = self._held.find(_BLOCK_END)
        return None if position < 0 else position + len(_BLOCK_END)

    def _certain_text(self) -> list[ParserOutput]:
        """All but an ending that could still become a mark."""
        kept = next((n for n in range(len(_MARK) - 1, 0, -1) if self._held.endswith(_MARK[:n])), 0)
        cut = len(self._held) - kept
        text, self._held = self._held[:cut], self._held[cut:]
        return [text] if text else []


def read_block(text: str, tools: dict[str, ToolDefinition]) -> list[ParserOutput] | None:
    """The calls of one whole block; None if any of them cannot be accepted."""
    block = _BLOCK.fullmatch(text)
    if block is None:
        return None
    calls = [_read_invoke(match, tools) for match in _INVOKE.finditer(block.group(1))]
    accepted = [call for call in calls if call is not None]
    return [*accepted] if len(accepted) == len(calls) else None


def block_fault(text: str, tools: dict[str, ToolDefinition]) -> str | None:
    """Why a text that had to be one block is not accepted; None if it is."""
    block = _BLOCK.fullmatch(text)
    if block is None:
        return "broken markup"
    if any(match.group(1) not in tools for match in _INVOKE.finditer(block.group(1))):
        return "unknown tool"
    return "wrong parameters" if read_block(text, tools) is None else None


def _read_invoke(invoke: re.Match[str], tools: dict[str, ToolDefinition]) -> ParsedCall | None:
    tool = tools.get(invoke.group(1))
    if tool is None:
        return None
    arguments: dict[str, object] = {}
    for name, is_string, value in _PARAMETER.findall(invoke.group(2)):
        if name in arguments:
            return None
        try:
            arguments[name] = value if is_string == "true" else json.loads(value)
        except ValueError:
            return None
    declared = {parameter.name for parameter in tool.parameters}
    if not tool.required <= arguments.keys() <= declared:
        return None
    return ParsedCall(tool.name, json.dumps(arguments, ensure_ascii=False))
