"""A chat completion request as the testbed understands it: read from JSON, or refused.

It knows OpenAI's format; what the model makes of it is the chat template's matter. Sampling
parameters are accepted and have no effect: the testbed always takes the likeliest token.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

JsonObject = Mapping[str, Any]
_ROLES = ("system", "developer", "user", "assistant", "tool")


class BadRequestError(Exception):
    """The request cannot be answered as it stands; `param` names the field, if it is one."""

    def __init__(self, message: str, param: str | None = None) -> None:
        super().__init__(message)
        self.param = param


@dataclass(frozen=True, slots=True)
class ToolParameter:
    name: str
    json_type: str


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A function the model may call."""

    name: str
    description: str
    parameters: tuple[ToolParameter, ...]
    required: frozenset[str]


@dataclass(frozen=True, slots=True)
class AssistantCall:
    """A call that an assistant message of the history contains."""

    name: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True)
class Message:
    role: str
    text: str
    calls: tuple[AssistantCall, ...] = ()


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Where prefill and decode meet for this request, as a router has decided."""

    host: str
    port: int
    room: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """`forced_tool`: the tool that tool_choice names; `must_call`: required, or a named one."""

    messages: tuple[Message, ...]
    tools: tuple[ToolDefinition, ...]
    tool_choice: str
    forced_tool: str | None
    max_tokens: int | None
    stream: bool
    include_usage: bool
    cached_tokens_details: bool
    rid: str | None
    model: str | None
    bootstrap: Bootstrap | None

    @property
    def may_call(self) -> bool:
        """Whether the answer is read for calls; if not, markup passes through as text."""
        return bool(self.tools) and self.tool_choice != "none"

    @property
    def must_call(self) -> bool:
        return self.may_call and self.tool_choice != "auto"


def read_chat_request(body: bytes) -> ChatRequest:
    """Raises BadRequestError with one sentence that names what is wrong."""
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequestError(f"The body is not JSON: {error}.") from error
    _refuse_halves_of_characters(body, data)
    _expect(isinstance(data, dict), "The body must be a JSON object.", None)
    messages = data.get("messages")
    _expect(isinstance(messages, list) and bool(messages), "a non-empty list", "messages")
    tools = tuple(
        _read_tool(tool, f"tools[{index}]")
        for index, tool in enumerate(_listed(data.get("tools"), "tools"))
    )
    tool_choice, forced_tool = _read_tool_choice(data.get("tool_choice"), tools)
    options = _mapping(data.get("stream_options"), "stream_options")
    _expect(data.get("n") in (None, 1), "1: the testbed gives one answer", "n")
    return ChatRequest(
        messages=tuple(
            _read_message(message, f"messages[{index}]") for index, message in enumerate(messages)
        ),
        tools=tools,
        tool_choice=tool_choice,
        forced_tool=forced_tool,
        max_tokens=_read_max_tokens(data),
        stream=_flag(data, "stream"),
        include_usage=_flag(options, "include_usage"),
        cached_tokens_details=_flag(data, "return_cached_tokens_details"),
        rid=_optional_text(data, "rid"),
        model=_optional_text(data, "model"),
        bootstrap=_read_bootstrap(data),
    )


def _refuse_halves_of_characters(body: bytes, data: Any) -> None:
    """A lone surrogate, which only an escape can bring in, could not be sent back in an answer."""
    if rb"\u" not in body:
        return
    try:
        json.dumps(data, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise BadRequestError(
            "The body holds half of a surrogate pair, which is no character."
        ) from error


def _read_bootstrap(data: JsonObject) -> Bootstrap | None:
    room = data.get("bootstrap_room")
    if room is None:
        return None
    host, port = data.get("bootstrap_host"), data.get("bootstrap_port")
    _expect(_is_count(room), "a positive integer", "bootstrap_room")
    _expect(isinstance(host, str) and host, "a host name", "bootstrap_host")
    _expect(_is_count(port), "a port", "bootstrap_port")
    return Bootstrap(str(host), int(str(port)), int(room))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _read_message(message: Any, where: str) -> Message:
    message = _mapping(message, where)
    role = message.get("role")
    _expect(role in _ROLES, f"one of {', '.join(_ROLES)}", f"{where}.role")
    calls = tuple(
        _read_call(call, f"{where}.tool_calls[{index}]")
        for index, call in enumerate(_listed(message.get("tool_calls"), f"{where}.tool_calls"))
    )
    return Message(role, _read_text(message.get("content"), f"{where}.content"), calls)


def _read_text(content: Any, where: str) -> str:
    """A string, nothing, or a list of text parts."""
    if content is None or isinstance(content, str):
        return content or ""
    parts: list[str] = []
    for part in _listed(content, where):
        text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
        _expect(isinstance(text, str), "text: the testbed reads text parts only", where)
        parts.append(str(text))
    return "\n".join(parts)


def _read_call(call: Any, where: str) -> AssistantCall:
    function = _mapping(_mapping(call, where).get("function"), f"{where}.function")
    name, arguments = function.get("name"), function.get("arguments", {})
    _expect(isinstance(name, str), "a string", f"{where}.function.name")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments or "{}")
        except ValueError:
            arguments = None
    _expect(isinstance(arguments, dict), "a JSON object", f"{where}.function.arguments")
    return AssistantCall(str(name), arguments)


def _read_tool(tool: Any, where: str) -> ToolDefinition:
    function = _mapping(_mapping(tool, where).get("function"), f"{where}.function")
    name = function.get("name")
    _expect(isinstance(name, str) and name, "a function's name", f"{where}.function.name")
    schema = _mapping(function.get("parameters"), f"{where}.function.parameters")
    properties = _mapping(schema.get("properties"), f"{where}.function.parameters.properties")
    parameters = tuple(
        ToolParameter(
            key, str(value.get("type", "string")) if isinstance(value, dict) else "string"
        )
        for key, value in properties.items()
    )
    required = _listed(schema.get("required"), f"{where}.function.parameters.required")
    description = function.get("description") or ""
    _expect(isinstance(description, str), "a string", f"{where}.function.description")
    return ToolDefinition(str(name), description, parameters, frozenset(map(str, required)))


def _read_tool_choice(choice: Any, tools: Sequence[ToolDefinition]) -> tuple[str, str | None]:
    if choice is None:
        return "auto", None
    if isinstance(choice, str):
        _expect(
            choice in ("auto", "none", "required"), "auto, none, required or a tool", "tool_choice"
        )
        _expect(choice != "required" or bool(tools), "auto or none without tools", "tool_choice")
        return choice, None
    name = _mapping(_mapping(choice, "tool_choice").get("function"), "tool_choice").get("name")
    known = [tool.name for tool in tools]
    _expect(name in known, f"one of the tools: {', '.join(known)}", "tool_choice.function.name")
    return "named", str(name)


def _read_max_tokens(data: JsonObject) -> int | None:
    for key in ("max_completion_tokens", "max_tokens"):
        value = data.get(key)
        if value is not None:
            _expect(_is_count(value), "a positive integer", key)
            return int(value)
    return None


def _flag(data: JsonObject, key: str) -> bool:
    value = data.get(key)
    _expect(value is None or isinstance(value, bool), "true or false", key)
    return bool(value)


def _optional_text(data: JsonObject, key: str) -> str | None:
    value = data.get(key)
    _expect(value is None or (isinstance(value, str) and value), "a non-empty string", key)
    return None if value is None else str(value)


def _mapping(value: Any, where: str) -> JsonObject:
    _expect(value is None or isinstance(value, dict), "an object", where)
    return value or {}


def _listed(value: Any, where: str) -> list[Any]:
    _expect(value is None or isinstance(value, list), "a list", where)
    return list(value or ())


def _expect(condition: object, wanted: str, param: str | None) -> None:
    if not condition:
        raise BadRequestError(f"{param} must be {wanted}." if param else wanted, param)
