"""Seven ways in which a server can hold a client, on real sockets: each ends as what it is."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from db.vocabulary import ErrorReason, TransportEnd, TurnReading
from runner.campaign.campaign import Deadlines
from runner.judge.json_values import JsonObject
from runner.judge.record import TurnContext, TurnRecord
from runner.judge.turn_reading import judge_turn
from runner.sessions.session_transport import session_transport
from runner.sessions.streaming_client import StreamingClient
from tests.runner.sessions import wire
from tests.runner.sessions.raw_server import HEAD, Peer, raw_server

HASTY = Deadlines(connect_s=2, first_token_s=0.6, no_progress_s=0.6, session_s=2.0)
BODY: JsonObject = {"stream": True, "messages": [{"role": "user", "content": "please"}]}
CAP_BYTES = 2_000_000


async def half_open(peer: Peer) -> None:
    """The request is taken, and nothing ever comes back."""
    await peer.until_closed()


async def black_hole_after_the_head(peer: Peer) -> None:
    peer.write(HEAD)
    await peer.until_closed()


async def black_hole_after_a_token(peer: Peer) -> None:
    peer.write(HEAD)
    peer.write_chunk(wire.text("Done: am"))
    await peer.until_closed()


async def a_byte_at_a_time(peer: Peer) -> None:
    """An event that never becomes whole: always a sign of life, never a token."""
    peer.write(HEAD)
    for byte in wire.text("amber " * 200):
        if peer.writer.is_closing():
            return
        peer.write_chunk(bytes([byte]))
        await asyncio.sleep(0.05)


async def comments_for_ever(peer: Peer) -> None:
    peer.write(HEAD)
    while not peer.writer.is_closing():
        peer.write_chunk(b": keep-alive\n\n")
        await asyncio.sleep(0.05)


async def tokens_for_ever(peer: Peer) -> None:
    peer.write(HEAD)
    while not peer.writer.is_closing():
        peer.write_chunk(wire.text("amber "))
        await asyncio.sleep(0.02)


async def a_flood(peer: Peer) -> None:
    """One line without an end, as fast as it goes."""
    peer.write(HEAD)
    while not peer.writer.is_closing():
        peer.write_chunk(b"x" * 65_536)
        await peer.writer.drain()


async def _sent(answer: Callable[[Peer], Awaitable[None]]) -> TurnRecord:
    async with (
        raw_server(answer) as server,
        asyncio.timeout(20),
        StreamingClient(
            server.url,
            transport=session_transport(),
            deadlines=HASTY,
            max_body_bytes=CAP_BYTES,
        ) as client,
    ):
        record = await client.send(BODY, request_id="q-1")
        assert client.open_exchanges == {}
        return record


def _reading(record: TurnRecord) -> TurnReading:
    return judge_turn(record, TurnContext.from_json({"user": "please"})).reading


@pytest.mark.parametrize(
    ("answer", "deadline", "reading"),
    [
        (half_open, ErrorReason.FIRST_TOKEN_TIMEOUT, TurnReading.WEDGE),
        (black_hole_after_the_head, ErrorReason.FIRST_TOKEN_TIMEOUT, TurnReading.WEDGE),
        (black_hole_after_a_token, ErrorReason.STALLED, TurnReading.WEDGE),
        (a_byte_at_a_time, ErrorReason.FIRST_TOKEN_TIMEOUT, TurnReading.WEDGE),
        (comments_for_ever, ErrorReason.FIRST_TOKEN_TIMEOUT, TurnReading.WEDGE),
        (tokens_for_ever, ErrorReason.SESSION_TIMEOUT, TurnReading.ERROR),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
async def test_a_stream_that_holds_the_client_ends_at_the_deadline_that_it_misses(
    answer: Callable[[Peer], Awaitable[None]], deadline: ErrorReason, reading: TurnReading
) -> None:
    record = await _sent(answer)

    assert (record.transport_end, record.deadline) == (TransportEnd.CLIENT_DEADLINE, deadline)
    assert _reading(record) is reading


async def test_a_flood_is_cut_at_the_limit_of_what_is_kept() -> None:
    record = await _sent(a_flood)

    assert len(record.body) <= CAP_BYTES
    assert record.transport_end is TransportEnd.CLIENT_DEADLINE
    assert _reading(record) is TurnReading.ERROR
