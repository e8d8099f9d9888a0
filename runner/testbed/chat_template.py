"""Lays a chat out as the prompt the model was trained on.

System text becomes filler words before and, after a blank line, behind the tools; a tool's keyword
is the last content word of its description. Dialect V4 is always announced. It knows the prompt's
layout; it does not know what the answer will be.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner.testbed import vocabulary as v
from runner.testbed.chat_request import (
    AssistantCall,
    ChatRequest,
    JsonObject,
    Message,
    ToolDefinition,
)
from runner.testbed.grammar import Call, Parameter, Tool, call_tokens, system_tokens
from runner.testbed.tokenizer import Tokenizer

_NUMBER_TYPES = ("number", "integer", "boolean")


class ChatTemplate:
    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def prompt(self, request: ChatRequest) -> tuple[int, ...]:
        """All messages, then the mark behind which the assistant speaks."""
        system = [m for m in request.messages if m.role in ("system", "developer")]
        spoken = [m for m in request.messages if m.role not in ("system", "developer")]
        tokens = list(self._system("\n\n".join(m.text for m in system), request.tools))
        for message in spoken:
            tokens += self._message(message, request.tools)
        return (*tokens, v.ASSISTANT)

    def forced_answer(self, request: ChatRequest) -> tuple[int, ...]:
        """How the answer has to begin when tool_choice demands a call, or a certain one."""
        if not request.must_call:
            return ()
        opening = (v.MARK_OPEN, v.V4.section, v.MARK_OPEN, v.V4.invoke)
        if request.forced_tool is None:
            return opening
        return (*opening, *self._tokenizer.encode_words(request.forced_tool), v.NAME_END)

    def _system(self, text: str, tools: Sequence[ToolDefinition]) -> tuple[int, ...]:
        before, _, after = text.partition("\n\n")
        return system_tokens(
            tuple(self._tokenizer.encode_words(before)),
            tuple(self._tokenizer.encode_words(after)),
            tuple(self._tool(tool) for tool in tools),
            v.V4,
        )

    def _tool(self, tool: ToolDefinition) -> Tool:
        name = tuple(self._tokenizer.encode_words(tool.name))
        keyword = self._tokenizer.last_content_word(tool.description)
        if keyword is None:
            keyword = self._tokenizer.word_id(tool.name)
        parameters = tuple(
            Parameter(self._one_word(each.name), each.json_type not in _NUMBER_TYPES)
            for each in tool.parameters
        )
        return Tool(keyword, name, parameters)

    def _message(self, message: Message, tools: Sequence[ToolDefinition]) -> list[int]:
        encode = self._tokenizer.encode
        if message.role == "user":
            return [v.USER, *encode(message.text)]
        if message.role == "tool":
            return [v.RESULT_OPEN, v.RESULT, *encode(message.text), v.RESULT_CLOSE]
        said = self._tokenizer.encode_markup(message.text)
        if not message.calls:
            return [v.ASSISTANT, *said, v.EOS]
        calls = [self._call(call, tools) for call in message.calls]
        return [v.ASSISTANT, *said, *call_tokens(calls, v.V4)]

    def _call(self, call: AssistantCall, tools: Sequence[ToolDefinition]) -> Call:
        """A call of the history, its parameters in the order the tool lists them."""
        listed = next((tool.parameters for tool in tools if tool.name == call.name), ())
        order = [each.name for each in listed if each.name in call.arguments]
        order += [name for name in call.arguments if name not in order]
        parameters = tuple(
            Parameter(self._one_word(name), isinstance(call.arguments[name], str)) for name in order
        )
        values = tuple(self._value(call.arguments, name) for name in order)
        name = tuple(self._tokenizer.encode_words(call.name))
        return Call(Tool(v.PAD, name, parameters), values)

    def _value(self, arguments: JsonObject, name: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(str(arguments[name])))

    def _one_word(self, name: str) -> int:
        words = self._tokenizer.encode_words(name)
        return words[0] if len(words) == 1 else self._tokenizer.word_id(name)
