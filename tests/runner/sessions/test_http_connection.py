"""A body as it is read from its connection: stalled, faster than its reader, or given away."""

import asyncio

import httpx
import pytest

from runner.sessions.stream_transport import PushedBody, StreamTransport
from tests.runner.sessions.raw_server import Peer, raw_server
from tests.runner.sessions.transport_client import CHUNKED, HELLO, OK, client


async def test_a_silent_server_meets_the_read_timeout() -> None:
    async def say(peer: Peer) -> None:
        await peer.until_closed()

    async with raw_server(say) as server, client(read_s=0.05) as http:
        with pytest.raises(httpx.ReadTimeout):
            await http.get(server.url)


async def test_a_stream_that_stalls_meets_the_read_timeout() -> None:
    async def say(peer: Peer) -> None:
        peer.write(OK + b"content-length: 500\r\n\r\nhello")
        await peer.until_closed()

    async with raw_server(say) as server, client(read_s=0.05) as http:
        with pytest.raises(httpx.ReadTimeout):
            await http.get(server.url)


async def test_a_slow_reader_stops_the_server_instead_of_filling_the_memory() -> None:
    sent_bytes = 0

    async def say(peer: Peer) -> None:
        nonlocal sent_bytes
        peer.write(OK + b"content-length: 1073741824\r\n\r\n")
        while True:
            peer.write(b"x" * 2**20)
            await peer.writer.drain()
            sent_bytes += 2**20

    async with (
        raw_server(say) as server,
        client() as http,
        http.stream("GET", server.url) as response,
    ):
        pieces = response.aiter_raw()
        await anext(pieces)
        before = -1
        while sent_bytes > before:  # until the server can send no more
            before = sent_bytes
            for _ in range(200):
                await asyncio.sleep(0.001)
        assert sent_bytes < 64 * 2**20
        read_bytes = 0
        while read_bytes < 128 * 2**20:
            read_bytes += len(await anext(pieces))


async def pushed(peer_says: list[bytes], *, enough_bytes: int = 10**9) -> bytes:
    """What a body gives away piece by piece, with a pause of the server's between two pieces."""
    taken = bytearray()

    async def say(peer: Peer) -> None:
        for piece in peer_says:
            peer.write(piece)
            await peer.writer.drain()
            await asyncio.sleep(0)
        peer.writer.close()

    def take(pieces: list[bytes], at_s: list[float]) -> bool:
        assert len(pieces) == len(at_s)
        taken.extend(b"".join(pieces))
        return len(taken) < enough_bytes

    async with raw_server(say) as server:
        transport = StreamTransport()
        response = await transport.handle_async_request(httpx.Request("GET", server.url))
        assert isinstance(response.stream, PushedBody)
        try:
            await response.stream.each_piece(take)
        finally:
            await response.stream.aclose()
            await transport.aclose()
    return bytes(taken)


@pytest.mark.parametrize(
    "peer_says",
    [
        [HELLO],
        [HELLO[:-5], b"he", b"llo"],
        [CHUNKED, b"2\r\nhe\r\n", b"3\r\nllo\r\n", b"0\r\n\r\n"],
        [CHUNKED + b"2\r\nhe\r\n3\r\nl", b"lo\r\n0\r\n\r\n"],
        [OK + b"\r\nhel", b"lo"],
    ],
)
async def test_a_body_is_given_away_whole_whichever_reads_it_came_in(
    peer_says: list[bytes],
) -> None:
    assert await pushed(peer_says) == b"hello"


async def test_who_has_enough_of_a_body_is_given_no_more() -> None:
    endless = [b"5\r\nhello\r\n"] * 1_000

    assert len(await pushed([CHUNKED, *endless], enough_bytes=20)) < 5 * 1_000


async def test_a_body_that_is_cut_gives_what_had_come_and_then_fails() -> None:
    taken: list[bytes] = []

    async def say(peer: Peer) -> None:
        peer.write(CHUNKED + b"5\r\nhello\r\n")
        peer.writer.close()

    def take(pieces: list[bytes], _: list[float]) -> bool:
        taken.extend(pieces)
        return True

    async with raw_server(say) as server:
        transport = StreamTransport()
        response = await transport.handle_async_request(httpx.Request("GET", server.url))
        assert isinstance(response.stream, PushedBody)
        with pytest.raises(httpx.RemoteProtocolError, match="inside its answer"):
            await response.stream.each_piece(take)
        await response.stream.aclose()

    assert b"".join(taken) == b"hello"


async def test_a_fault_of_the_taker_reaches_who_waits_for_the_body() -> None:
    async def say(peer: Peer) -> None:
        peer.write(CHUNKED)
        await peer.writer.drain()
        peer.write(b"5\r\nhello\r\n")
        await peer.until_closed()

    def take(pieces: list[bytes], _: list[float]) -> bool:
        raise ValueError(f"no use for {pieces!r}")

    async with raw_server(say) as server:
        transport = StreamTransport()
        response = await transport.handle_async_request(httpx.Request("GET", server.url))
        assert isinstance(response.stream, PushedBody)
        with pytest.raises(ValueError, match="no use for"):
            await response.stream.each_piece(take)
        await response.stream.aclose()
        async with asyncio.timeout(120):
            await server.closed_by_client.wait()
