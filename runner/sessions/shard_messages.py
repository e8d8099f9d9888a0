"""What a drive and the processes that play its sessions say to each other, and in which bytes.

A message is its length, four bytes, the highest first, and itself in MessagePack. It knows neither
processes nor sessions.
"""

import asyncio
import struct
from typing import Final, TypeAlias

import msgspec

from runner.sessions.client_health import ClientHealth
from runner.sessions.open_request import OpenRequest

_LENGTH: Final = struct.Struct(">I")


class Begin(msgspec.Struct, tag=True, frozen=True):
    """`setting`: a pickled ClientSetting."""

    setting: bytes


class Play(msgspec.Struct, tag=True, frozen=True):
    session_index: int


class Cancel(msgspec.Struct, tag=True, frozen=True):
    """The session is to be dropped where it stands; no answer is waited for."""

    session_index: int


class Finish(msgspec.Struct, tag=True, frozen=True):
    """No session will be asked for any more. What is under way is dropped."""


class Ready(msgspec.Struct, tag=True, frozen=True):
    pass


class Refused(msgspec.Struct, tag=True, frozen=True):
    """With this setting nothing can be played: why."""

    sentence: str


class Played(msgspec.Struct, tag=True, frozen=True):
    """`session`: a pickled PlayedSession. Its texts may hold halves of characters, which a server
    sent and MessagePack has no place for.
    """

    session_index: int
    session: bytes


class Status(msgspec.Struct, tag=True, frozen=True):
    """`quiet_s` is the time since any answer made progress; None before the first did."""

    sent: int
    quiet_s: float | None
    open_requests: tuple[OpenRequest, ...]


class Farewell(msgspec.Struct, tag=True, frozen=True):
    status: Status
    health: ClientHealth


ToShard: TypeAlias = Begin | Play | Cancel | Finish
FromShard: TypeAlias = Ready | Refused | Played | Status | Farewell

_ENCODER: Final = msgspec.msgpack.Encoder()
_TO_SHARD: Final = msgspec.msgpack.Decoder(ToShard)
_FROM_SHARD: Final = msgspec.msgpack.Decoder(FromShard)


def framed(message: ToShard | FromShard) -> bytes:
    """Raises struct.error for a message of 4 GiB or more."""
    content = _ENCODER.encode(message)
    return _LENGTH.pack(len(content)) + content


async def next_to_shard(reader: asyncio.StreamReader) -> ToShard | None:
    """None where the other side has ended. Raises msgspec.MsgspecError for what is no message."""
    content = await _next_frame(reader)
    return None if content is None else _TO_SHARD.decode(content)


async def next_from_shard(reader: asyncio.StreamReader) -> FromShard | None:
    """As `next_to_shard`."""
    content = await _next_frame(reader)
    return None if content is None else _FROM_SHARD.decode(content)


async def _next_frame(reader: asyncio.StreamReader) -> bytes | None:
    """None at the end of the stream, also inside a message: its sender is gone."""
    try:
        (length,) = _LENGTH.unpack(await reader.readexactly(_LENGTH.size))
        return await reader.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
