"""The bodies of chat completion answers: whole, in chunks, and as errors, in OpenAI's shape.

It builds JSON from values; it reads no request and no model output.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from runner.testbed.generation import CachedTokens
from runner.testbed.tool_parser import ParsedCall

DONE_EVENT = b"data: [DONE]\n\n"
_ERROR_TYPES = {404: "NotFoundError"}


@dataclass(frozen=True, slots=True)
class Usage:
    prompt_tokens: int
    completion_tokens: int
    cached: CachedTokens

    def to_json(self) -> dict[str, Any]:
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached.total},
        }


@dataclass(frozen=True, slots=True)
class AnswerEnvelope:
    """What all parts of one answer have in common."""

    rid: str
    model: str
    created: int

    def delta(self, delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
        choice = {
            "index": 0,
            "delta": delta,
            "logprobs": None,
            "finish_reason": finish_reason,
        }
        return self._event({"choices": [choice]})

    def closing(self, extras: dict[str, Any]) -> bytes:
        """The last chunk, without choices: usage and the like."""
        return self._event({"choices": [], **extras})

    def whole(
        self, message: dict[str, Any], finish_reason: str, extras: dict[str, Any]
    ) -> dict[str, Any]:
        choice = {
            "index": 0,
            "message": message,
            "logprobs": None,
            "finish_reason": finish_reason,
        }
        return {**self._head("chat.completion"), "choices": [choice], **extras}

    def _event(self, body: dict[str, Any]) -> bytes:
        return sse_event({**self._head("chat.completion.chunk"), **body})

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.rid, "object": kind, "created": self.created, "model": self.model}


def call_deltas(call: ParsedCall, index: int, call_id: str) -> list[dict[str, Any]]:
    """A call in a stream, as SGLang sends it: first its name, then its arguments."""
    opening = {
        "index": index,
        "id": call_id,
        "type": "function",
        "function": {"name": call.name, "arguments": ""},
    }
    arguments = {"index": index, "function": {"arguments": call.arguments}}
    return [{"tool_calls": [opening]}, {"tool_calls": [arguments]}]


def whole_message(
    text: str, calls: Sequence[ParsedCall], call_ids: Sequence[str]
) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {
                "id": call_id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call, call_id in zip(calls, call_ids, strict=True)
        ]
    return message


def cached_tokens_extension(cached: CachedTokens) -> dict[str, Any]:
    details = {"device": cached.device, "host": cached.host, "storage": 0, "storage_backend": None}
    return {"sglext": {"cached_tokens_details": details}}


def error_body(message: str, *, code: int, param: str | None = None) -> dict[str, Any]:
    kind = _ERROR_TYPES.get(code, "BadRequestError" if code < 500 else "InternalServerError")
    error = {"object": "error", "message": message, "type": kind, "param": param, "code": code}
    return {"error": error}


def sse_event(body: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"
