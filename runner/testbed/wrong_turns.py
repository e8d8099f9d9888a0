"""What was wrong with a turn, and how a client would have read it.

It holds the model's tokens and the parsers' outputs against what the dialogue's script demands.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum

from runner.testbed.chat_request import ChatRequest, ToolDefinition, ToolParameter
from runner.testbed.detokenizer import decode
from runner.testbed.grammar import Call, Dialogue, Tool
from runner.testbed.tool_parser import ParsedCall, ParserOutput, block_fault
from runner.testbed.vocabulary import EOS, Vocabulary


class WrongTurn(StrEnum):
    """The worst that is true of a turn, first in the list."""

    BROKEN_MARKUP = "broken markup"
    UNKNOWN_TOOL = "unknown tool"
    WRONG_PARAMETERS = "wrong parameters"
    WRONG_VALUES = "wrong values"
    WRONG_ANSWER = "wrong answer"
    MISREAD = "misread"


class ScriptedClient:
    """One dialogue's client: its tools, the turns that are due, and what is wrong with others."""

    def __init__(self, vocabulary: Vocabulary, dialogue: Dialogue, *, stream: bool = True) -> None:
        self._vocabulary = vocabulary
        self._tools = {tool.name: tool for tool in map(self._definition, dialogue.tools)}
        self._calls = [self._parsed(step.call) for step in dialogue.rounds]
        self.request = ChatRequest(
            messages=(),
            tools=tuple(self._tools.values()),
            tool_choice="auto",
            forced_tool=None,
            max_tokens=None,
            stream=stream,
            include_usage=False,
            cached_tokens_details=False,
            rid=None,
            model=None,
            bootstrap=None,
        )

    def wrong_turn(
        self, turn: int, tokens: Sequence[int], due: Sequence[int], read: Sequence[ParserOutput]
    ) -> WrongTurn | None:
        """None if turn number `turn` (from 0; calls and answers take turns) is right."""
        is_call = turn % 2 == 0
        if tuple(tokens) == tuple(due):
            expected = [self._calls[turn // 2]] if is_call else [self._text(due)]
            return None if _joined(read) == expected else WrongTurn.MISREAD
        if not is_call:
            return WrongTurn.WRONG_ANSWER
        fault = block_fault(self._text(tokens), self._tools)
        return WrongTurn(fault) if fault is not None else WrongTurn.WRONG_VALUES

    def _text(self, tokens: Sequence[int]) -> str:
        return decode(self._vocabulary, (token for token in tokens if token != EOS))

    def _definition(self, tool: Tool) -> ToolDefinition:
        names = [self._vocabulary.pieces[parameter.name] for parameter in tool.parameters]
        parameters = tuple(ToolParameter(name, "string") for name in names)
        return ToolDefinition(self._name(tool), "", parameters, frozenset(names))

    def _parsed(self, call: Call) -> ParsedCall:
        words = self._vocabulary.pieces
        values = {
            words[parameter.name]: " ".join(words[token] for token in value)
            for parameter, value in zip(call.tool.parameters, call.values, strict=True)
        }
        return ParsedCall(self._name(call.tool), json.dumps(values, ensure_ascii=False))

    def _name(self, tool: Tool) -> str:
        return "_".join(self._vocabulary.pieces[token] for token in tool.name)


def _joined(outputs: Sequence[ParserOutput]) -> list[ParserOutput]:
    """Neighbouring pieces of text are one text."""
    joined: list[ParserOutput] = []
    for output in outputs:
        if isinstance(output, str) and joined and isinstance(joined[-1], str):
            joined[-1] += output
        else:
            joined.append(output)
    return joined
