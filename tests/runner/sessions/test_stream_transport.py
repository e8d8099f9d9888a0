"""Requests as the transport sends them under httpx's own client, once or again."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from runner.sessions.stream_transport import StreamTransport
from tests.runner.sessions.raw_server import Peer, raw_server
from tests.runner.sessions.transport_client import HELLO, client


async def test_an_upload_of_unknown_length_goes_out_in_chunks() -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield b"hel"
        yield b""
        yield b"lo"

    heads: list[bytes] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"0\r\n\r\n"))
        writer.write(HELLO)
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, client() as http:
        await http.post(f"http://127.0.0.1:{port}/", content=parts())

    assert heads[0].endswith(b"\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n")


async def test_a_server_that_refuses_a_large_upload_early_is_heard() -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        await gone.wait()
        writer.close()

    gone = asyncio.Event()
    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, client() as http:
        response = await http.post(f"http://127.0.0.1:{port}/", content=b"x" * 64 * 2**20)
        gone.set()

    assert response.status_code == 413


async def test_redirects_are_httpx_s_own_business() -> None:
    async def say(peer: Peer) -> None:
        is_first = peer.head.startswith(b"GET / ")
        moved = b"HTTP/1.1 302 Found\r\nlocation: /there?x=1\r\ncontent-length: 0\r\n\r\n"
        peer.write(moved if is_first else HELLO)

    async with raw_server(say) as server, client() as http:
        response = await http.get(server.url, follow_redirects=True)

    assert (response.text, response.url.raw_path) == ("hello", b"/there?x=1")
    assert server.connections == 1


@pytest.mark.parametrize("value", [b"a\r\nx: y", b"a\nb", b"a\0b"])
async def test_a_header_that_would_become_two_is_not_sent(value: bytes) -> None:
    async with client() as http:
        with pytest.raises(httpx.LocalProtocolError):
            await http.get("http://127.0.0.1:9/", headers={b"x-name": value})


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "unix:///tmp/x", "http:///x"])
async def test_an_address_that_is_no_http_is_refused(url: str) -> None:
    transport = StreamTransport()

    with pytest.raises(httpx.UnsupportedProtocol):
        await transport.handle_async_request(httpx.Request("GET", url))


async def second_answer(transport: StreamTransport, url: str, **request: Any) -> httpx.Response:
    """Of a client whose server answers one request and hangs up at the next."""
    async with httpx.AsyncClient(transport=transport, trust_env=False) as http:
        await http.get(url)
        return await http.post(url, **request)


async def answer_one_request(peer: Peer) -> None:
    if peer.head.startswith(b"GET"):
        peer.write(HELLO)
    else:
        peer.writer.close()


async def test_who_was_slow_to_hang_up_had_taken_the_request() -> None:
    async with raw_server(answer_one_request) as server:
        with pytest.raises(httpx.RemoteProtocolError, match="without an answer"):
            await second_answer(StreamTransport(resend_within_s=0), server.url, content=b"x")

    assert server.requests == 2


async def test_a_body_that_can_be_read_but_once_is_not_sent_again() -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield b"once"

    length = {"content-length": "4"}
    async with raw_server(answer_one_request) as server:
        with pytest.raises(httpx.RemoteProtocolError, match="without an answer"):
            await second_answer(StreamTransport(), server.url, content=parts(), headers=length)

    assert server.requests == 2
