"""Takes the pieces out of one chat completion chunk or body: text, usage, cached tokens, error.

Each function answers for any JSON that a server may send; none raises.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from runner.judge.assembled_message import InBandError, Usage
from runner.judge.json_values import Json, JsonObject, dump_json

MOST_TOKENS: Final = 2**31 - 1
"""What a server counts beyond this, or below zero, is no count; every store can hold this much."""

_REASONING_FIELDS: Final = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
_REASONING_PARTS: Final = ("thinking", "reasoning")
_MAX_DEPTH: Final = 8
_ERROR_TEXTS: Final = ("message", "detail", "msg", "error_msg", "err_msg", "errors", "title")
_ERROR_SIGNS: Final = ("detail", "errors", "error_msg", "err_msg", "error_code", "error_message")


def choices_of(chunk: JsonObject) -> list[JsonObject]:
    """The choices that are objects; [] for a chunk without any."""
    choices = chunk.get("choices")
    if not isinstance(choices, list):
        return []
    return [choice for choice in choices if isinstance(choice, dict)]


def content_of(message: Mapping[str, Json]) -> str:
    """The visible text of a delta or message; a list of parts is joined."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "".join(text for kind, text in _parts(content) if kind not in _REASONING_PARTS)


def reasoning_of(message: Mapping[str, Json]) -> dict[str, str]:
    """Reasoning by the field that carried it; proxies fill several with the same text."""
    found: dict[str, str] = {}
    for name in _REASONING_FIELDS:
        value = message.get(name)
        if value is not None and (text := _flat_text(value)):
            found[name] = text
    content = message.get("content")
    if isinstance(content, list):
        text = "".join(text for kind, text in _parts(content) if kind in _REASONING_PARTS)
        if text:
            found["content"] = text
    return found


def usage_of(chunk: JsonObject) -> Usage | None:
    usage = chunk.get("usage")
    if not isinstance(usage, dict):
        return None
    details = usage.get("completion_tokens_details")
    nested = details.get("reasoning_tokens") if isinstance(details, dict) else None
    return Usage(
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        reasoning_tokens=_count(nested if nested is not None else usage.get("reasoning_tokens")),
    )


def cached_tokens_of(chunk: JsonObject, choices: list[JsonObject]) -> dict[str, int]:
    """SGLang's `sglext.cached_tokens_details`, by place, and `total` from the usage."""
    found: dict[str, int] = {}
    for holder in (chunk, *choices):
        extension = holder.get("sglext")
        if isinstance(extension, dict):
            found |= _counts(extension.get("cached_tokens_details"))
    usage = chunk.get("usage")
    if isinstance(usage, dict):
        details = usage.get("prompt_tokens_details")
        total = _count(details.get("cached_tokens")) if isinstance(details, dict) else None
        if total is not None:
            found["total"] = total
    return found


def error_of(
    chunk: JsonObject, choices: list[JsonObject], *, event: str = "message"
) -> InBandError | None:
    """The error that a chunk or body states, at the top, in a choice, or by the event's name."""
    if _is_stated(chunk.get("error"), is_alone="choices" not in chunk):
        return _error(chunk.get("error"))
    if event == "error" or chunk.get("object") == "error" or chunk.get("type") == "error":
        return _error(chunk)
    for choice in choices:
        delta = choice.get("delta")
        nested = delta.get("error") if isinstance(delta, dict) else None
        for error in (choice.get("error"), nested):
            if error is not None and _is_stated(error, is_alone=False):
                return _error(error)
    return _error(chunk) if _looks_like_error(chunk) else None


def carries_text(choices: list[JsonObject]) -> bool:
    """Whether the choices hold a token: content, reasoning, refusal or a piece of a call."""
    for choice in choices:
        for name in ("delta", "message"):
            message = choice.get(name)
            if isinstance(message, dict) and _has_token(message):
                return True
        if choice.get("text"):
            return True
    return False


def _has_token(message: JsonObject) -> bool:
    if message.get("content") and content_of(message):
        return True
    if message.get("refusal"):
        return True
    calls = message.get("tool_calls")
    if isinstance(calls, list) and any(_is_call_piece(call) for call in calls):
        return True
    if _is_call_piece({"function": message.get("function_call")}):
        return True
    return bool(reasoning_of(message))


def _is_call_piece(call: Json) -> bool:
    function = call.get("function") if isinstance(call, dict) else None
    return isinstance(function, dict) and bool(function.get("name") or function.get("arguments"))


def _looks_like_error(chunk: JsonObject) -> bool:
    if "choices" in chunk:
        return False
    if chunk.get("success") is False or any(chunk.get(sign) for sign in _ERROR_SIGNS):
        return True
    has_text = isinstance(chunk.get("message"), str) or isinstance(chunk.get("msg"), str)
    return has_text and any(chunk.get(sign) is not None for sign in ("code", "status", "type"))


def _is_stated(error: Json, *, is_alone: bool) -> bool:
    if error is None or error is False:
        return False
    return bool(error) or is_alone


def _error(value: Json) -> InBandError:
    for _ in range(_MAX_DEPTH):
        nested = value.get("error") if isinstance(value, dict) else None
        if not isinstance(nested, dict) or not nested:
            break
        value = nested
    if not isinstance(value, dict):
        return InBandError(message=_flat_text(value) or _compact(value))
    texts = (_flat_text(value.get(name)) for name in _ERROR_TEXTS)
    return InBandError(
        message=next((text for text in texts if text), "") or _compact(value),
        kind=_flat_text(value.get("type")),
        code=_compact(value.get("code")) if value.get("code") is not None else "",
    )


def _parts(content: Json, depth: int = 0) -> Iterator[tuple[str, str]]:
    if not isinstance(content, list) or depth > _MAX_DEPTH:
        return
    for part in content:
        if isinstance(part, str):
            yield "text", part
        elif isinstance(part, dict):
            kind = part.get("type")
            kind = kind if isinstance(kind, str) else "text"
            text = part.get("text") if part.get("text") is not None else part.get(kind)
            yield kind, _flat_text(text, depth + 1)


def _flat_text(value: Json, depth: int = 0) -> str:
    if isinstance(value, str):
        return value
    return "".join(text for _, text in _parts(value, depth))


def _compact(value: Json) -> str:
    return value if isinstance(value, str) else dump_json(value)


def _counts(value: Json) -> dict[str, int]:
    if not isinstance(value, dict):
        return {}
    return {name: count for name, number in value.items() if (count := _count(number)) is not None}


def _count(value: Json) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value <= MOST_TOKENS else None
