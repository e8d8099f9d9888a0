"""The body of a chat completion request; it knows OpenAI's format and no server's answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from runner.judge.assembled_message import AssembledMessage
from runner.judge.json_values import Json, JsonObject
from runner.judge.record import Due, DueCall

_LEFT_OUT_BY_NULL: Final = frozenset({"max_tokens", "max_completion_tokens", "temperature"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """What the requests of a run have in common.

    `extra` fields stand over the others. `request_id_field` is where the server takes a request's
    own name from, so that its log lines can be matched: `rid` for SGLang.
    """

    model: str
    max_tokens: int
    stream: bool = True
    extra: Mapping[str, Json] = field(default_factory=dict)
    request_id_field: str | None = None

    def body(
        self,
        messages: Iterable[JsonObject],
        tools: Sequence[JsonObject],
        *,
        request_id: str,
        of_step: Mapping[str, Json] = MappingProxyType({}),
    ) -> JsonObject:
        """`of_step` stands over what all requests have in common, and `extra` over it.

        Of the limit and the temperature, which stand in each request by themselves, null leaves one
        out. A limit by OpenAI's later name takes the place of ours: its servers refuse both.
        """
        body: JsonObject = {"model": self.model, "messages": list(messages)}
        if tools:  # servers refuse an empty list, and a choice without tools
            body |= {"tools": list(tools), "tool_choice": "auto"}
        body |= {"max_tokens": self.max_tokens, "temperature": 0, "stream": self.stream}
        if self.stream:
            body["stream_options"] = {"include_usage": True}
        given = {**of_step, **self.extra}
        body |= given
        if body.get("max_completion_tokens") is not None and "max_tokens" not in given:
            del body["max_tokens"]
        for name in _LEFT_OUT_BY_NULL & body.keys():
            if body[name] is None:
                del body[name]
        if self.request_id_field is not None:
            body[self.request_id_field] = request_id
        return body


def system_message(text: str) -> JsonObject:
    return {"role": "system", "content": text}


def user_message(text: str) -> JsonObject:
    return {"role": "user", "content": text}


def assistant_message(message: AssembledMessage) -> JsonObject:
    """The answer as the server gave it; its reasoning is not part of what is fed back."""
    if not message.tool_calls:
        return {"role": "assistant", "content": message.content}
    calls: list[Json] = [
        {
            "id": call_id,
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for call_id, call in zip(_call_ids(message), message.tool_calls, strict=True)
    ]
    return {"role": "assistant", "content": message.content or None, "tool_calls": calls}


def tool_messages(message: AssembledMessage, *, due: Due | None, result: str) -> list[JsonObject]:
    """What the tools answer to the calls of `message`, one answer for each.

    Only the due call has a result; a second one beside it finds nothing. Where nobody knows what is
    due, every call has it.
    """
    results = [
        result if not isinstance(due, DueCall) or call.name == due.name else "nothing found"
        for call in message.tool_calls
    ]
    return [
        {"role": "tool", "tool_call_id": call_id, "content": text}
        for call_id, text in zip(_call_ids(message), results, strict=True)
    ]


def _call_ids(message: AssembledMessage) -> list[str]:
    """The calls' own ids; one is made up where the server gave none or gave it twice."""
    ids: list[str] = []
    for position, call in enumerate(message.tool_calls):
        is_usable = call.id != "" and call.id not in ids
        ids.append(call.id if is_usable else f"made-up-{position}")
    return ids
