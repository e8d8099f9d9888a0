"""What a prefill and a decode instance tell each other about the pages of one request.

A request is known to both by its room number. Plain values and their JSON form; who sends them and
over what is the links' matter.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import Any


class KVPoll(IntEnum):
    """SGLang's states of a transfer, with its numbers."""

    FAILED = 0
    BOOTSTRAPPING = 1
    WAITING_FOR_INPUT = 2
    TRANSFERRING = 3
    SUCCESS = 4


@dataclass(frozen=True, slots=True)
class PagesGranted:
    """Decode to prefill: write the room's pages here, keys and values as well as index keys."""

    room: int
    slot: int
    kv_pages: tuple[int, ...]
    index_pages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RoomAborted:
    """Decode to prefill: nobody waits for this room any more."""

    room: int
    reason: str


@dataclass(frozen=True, slots=True)
class PagesSent:
    """Prefill to decode: all is written. The first token, and where the prompt came from.

    `index_sums` are checksums of the sender's index-key pages, for the audit: one per layer and
    page, layers first.
    """

    room: int
    token: int
    device_tokens: int
    host_tokens: int
    index_sums: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class SendFailed:
    """Prefill to decode: the room's pages will not come."""

    room: int
    reason: str


@dataclass(frozen=True, slots=True)
class RoomDrained:
    """Prefill to decode, after an abort: nothing is written to the room's pages any more."""

    room: int


PageMessage = PagesGranted | RoomAborted | PagesSent | SendFailed | RoomDrained
_KINDS: dict[str, type[PageMessage]] = {
    kind.__name__: kind for kind in (PagesGranted, RoomAborted, PagesSent, SendFailed, RoomDrained)
}


def encode_message(message: PageMessage) -> bytes:
    """One line of JSON."""
    body = {"kind": type(message).__name__, **asdict(message)}
    return json.dumps(body, separators=(",", ":")).encode() + b"\n"


def decode_message(line: bytes) -> PageMessage:
    """Raises ValueError, KeyError or TypeError when it is not a message of ours."""
    body: dict[str, Any] = json.loads(line)
    kind = _KINDS[body.pop("kind")]
    return kind(**{key: _frozen(value) for key, value in body.items()})


def _frozen(value: object) -> Any:
    return tuple(value) if isinstance(value, list) else value
