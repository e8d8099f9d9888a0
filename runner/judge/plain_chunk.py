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
        """The text of the one line of each, in a tenth of the time of `plain_delta`; None if any of
        them is of another form.

        They are decoded as one list, each on a line of its own. None can pass for two or for a part
        of its neighbour: a text holds no line end, and each line holds at least one.
        """
        start, end, count = len(self.head), -len(self.tail), len(events)
        if min(map(len, events)) < start - end:
            return None
        if [event[:start] for event in events].count(self.head) != count:
            return None
        if [event[end:] for event in events].count(self.tail) != count:
            return None
        listed = b"[%b]" % b",\n".join([event[start:end] for event in events])
        if listed.count(b"\n") != count - 1:
            return None
        try:
            texts = _TEXTS_DECODER.decode(listed)
        except _UNREADABLE:
            return None
        return texts if len(texts) == count and all(texts) else None


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
