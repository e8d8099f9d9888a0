"""Chat completion chunks as a server writes them."""

import json
from typing import Any

DONE = b"data: [DONE]\n\n"
COMMENT = b": keep-alive\n\n"


def chunk(
    delta: dict[str, Any] | None = None,
    *,
    finish: str | None = None,
    usage: dict[str, Any] | None = None,
) -> bytes:
    choices = [{"index": 0, "delta": delta or {}, "finish_reason": finish}]
    body: dict[str, Any] = {"id": "x", "object": "chat.completion.chunk", "model": "m"}
    body["choices"] = [] if usage else choices
    if usage:
        body["usage"] = usage
    return f"data: {json.dumps(body)}\n\n".encode()


def role() -> bytes:
    return chunk({"role": "assistant", "content": ""})


def text(words: str) -> bytes:
    return chunk({"content": words})


def call(name: str, arguments: dict[str, Any], *, id: str = "call_1", index: int = 0) -> bytes:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return chunk(
        {"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}
    )


def usage(prompt: int, completion: int, *, host_cached: int | None = None) -> bytes:
    counts: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
    counts["total_tokens"] = prompt + completion
    if host_cached is not None:
        counts["prompt_tokens_details"] = {"cached_tokens": host_cached}
    return chunk(usage=counts)


def answer_stream(words: str) -> bytes:
    return role() + text(words) + chunk(finish="stop") + usage(120, 4) + DONE


def call_stream(name: str, arguments: dict[str, Any], *, id: str = "call_1") -> bytes:
    return (
        role() + call(name, arguments, id=id) + chunk(finish="tool_calls") + usage(120, 28) + DONE
    )
