"""Decodes at once the chunk that nearly every event of a stream is: one token of one choice.

What is not exactly that (an error, usage, a call, a field that nobody here knows) is left to the
reader that copes with everything.
"""

from typing import Final, Literal

import msgspec


class PlainDelta(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """At least one of the texts is not empty."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    role: str | None = None
    tool_calls: None = None
    function_call: None = None
    refusal: None = None


class _Choice(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    index: Literal[0]
    delta: PlainDelta
    logprobs: None = None
    finish_reason: None = None
    matched_stop: None = None
    stop_reason: None = None
    token_ids: None = None


class _Chunk(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    choices: tuple[_Choice]
    object: Literal["chat.completion.chunk"]
    id: str = ""
    created: int | float = 0
    model: str = ""
    system_fingerprint: str | None = None
    service_tier: str | None = None
    usage: None = None


_DECODER: Final = msgspec.json.Decoder(_Chunk)


def plain_delta(data: bytes) -> PlainDelta | None:
    """The delta of a plain chunk; None for anything else, readable or not."""
    try:
        delta = _DECODER.decode(data).choices[0].delta
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return delta if delta.content or delta.reasoning_content or delta.reasoning else None
