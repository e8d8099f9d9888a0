"""Decodes at once the chunk that nearly every event of a stream is: one token of one choice.

What is not exactly that (an error, usage, a call, a field that nobody here knows) is left to the
reader that copes with everything.
"""

import re
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

import msgspec


class PlainDelta(msgspec.Struct, forbid_unknown_fields=True, frozen=True, gc=False):
    """At least one of the texts is not empty."""

    content: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    role: str | None = None
    tool_calls: None = None
    function_call: None = None
    refusal: None = None


class _Choice(msgspec.Struct, forbid_unknown_fields=True, frozen=True, gc=False):
    index: Literal[0]
    delta: PlainDelta
    logprobs: None = None
    finish_reason: None = None
    matched_stop: None = None
    stop_reason: None = None
    token_ids: None = None


class _Chunk(msgspec.Struct, forbid_unknown_fields=True, frozen=True, gc=False):
    choices: tuple[_Choice]
    object: Literal["chat.completion.chunk"]
    id: str = ""
    created: int | float = 0
    model: str = ""
    system_fingerprint: str | None = None
    service_tier: str | None = None
    usage: None = None


_DECODER: Final = msgspec.json.Decoder(_Chunk)
_TEXTS_DECODER: Final = msgspec.json.Decoder(list[str])
_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_TEXT: Final = r'\s*:\s*("(?:[^"\\]|\\.)*+")'
_TEXT_FIELDS: Final = {
    name: (b'"%b"' % name.encode(), re.compile(b'"%b"' % name.encode() + _TEXT.encode()))
    for name in ("content", "reasoning_content", "reasoning")
}


def plain_delta(data: bytes) -> PlainDelta | None:
    """The delta of a plain chunk; None for anything else, readable or not."""
    try:
        delta = _DECODER.decode(data).choices[0].delta
    except _UNREADABLE:
        return None
    return delta if delta.content or delta.reasoning_content or delta.reasoning else None


class ChunkForm(NamedTuple):
    """What neighbouring chunks of a stream share: all but the text of their token, in `field`."""

    head: bytes
    tail: bytes
    field: str

    def texts(self, events: Sequence[bytes]) -> list[str] | None:
        """Of the events before the first of another form, the text of the one line of each, in a
        tenth of the time of `plain_delta`; None where one of them is no text.

        They are decoded as one list, each on a line of its own. None can pass for two or for a part
        of its neighbour: a text holds no line end, and each line holds at least one.
        """
        start, end = len(self.head), -len(self.tail)
        count = min(
            _like_first(self.head, [event[:start] for event in events]),
            _like_first(self.tail, [event[end:] for event in events]),
        )
        if count == 0:
            return []
        held = [event[start:end] for event in events[:count]]
        if not all(held):  # head and tail overlap
            return None
        listed = b"[%b]" % b",\n".join(held)
        if listed.count(b"\n") != count - 1:
            return None
        try:
            texts = _TEXTS_DECODER.decode(listed)
        except _UNREADABLE:
            return None
        return texts if len(texts) == count and all(texts) else None


def _like_first(wanted: bytes, parts: list[bytes]) -> int:
    """How many of them, from the first on, are what is wanted."""
    if parts.count(wanted) == len(parts):
        return len(parts)
    return next(at for at, part in enumerate(parts) if part != wanted)


def chunk_form(event: bytes, delta: PlainDelta) -> ChunkForm | None:
    """The form of an event whose delta this is; None where it has several texts, or where its bytes
    do not tell at once which of them are the text.
    """
    texts = {name: text for name in _TEXT_FIELDS if (text := getattr(delta, name)) is not None}
    if len(texts) != 1:
        return None
    ((field, text),) = texts.items()
    key, pattern = _TEXT_FIELDS[field]
    found = pattern.search(event) if event.count(key) == 1 else None
    if found is None or msgspec.json.decode(found[1]) != text:
        return None
    return ChunkForm(event[: found.start(1)], event[found.end(1) :], field)
