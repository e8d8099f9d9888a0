"""Which connections are used again, and which cannot be opened at all."""

import asyncio
import ssl

import httpx
import pytest
import trustme

from runner.sessions.stream_transport import StreamTransport
from tests.runner.sessions.raw_server import Peer, raw_server
from tests.runner.sessions.transport_client import HELLO, OK, client


async def test_a_connection_that_lay_too_long_is_not_used_again() -> None:
    async def say(peer: Peer) -> None:
        peer.write(HELLO)

    async with raw_server(say) as server, client(keepalive_s=-1) as http:
        for _ in range(3):
            await http.get(server.url)

    assert server.connections == 3


async def test_a_connection_that_the_server_closed_meanwhile_is_not_used_again() -> None:
    async def say(peer: Peer) -> None:
        peer.write(HELLO)
        await peer.writer.drain()
        peer.writer.close()

    async with raw_server(say) as server, client() as http:
        for _ in range(3):
            await http.get(server.url)
            await server.closed_by_client.wait()  # set as soon as the server has closed

    assert server.connections == 3


async def test_an_answer_that_is_left_in_the_middle_costs_its_connection() -> None:
    async def say(peer: Peer) -> None:
        peer.write(OK + b"content-length: 500\r\n\r\nhello")

    async with raw_server(say) as server, client() as http:
        for _ in range(2):
            async with http.stream("GET", server.url) as response:
                assert await anext(response.aiter_raw()) == b"hello"

    assert server.connections == 2


async def test_a_name_that_no_resolver_takes_is_a_failed_connection() -> None:
    async with client() as http:
        with pytest.raises(httpx.ConnectError, match="not the name of a host"):
            await http.get(f"http://{'a' * 70}.example/")


async def test_brackets_around_an_address_are_not_part_of_it() -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(HELLO)
        writer.close()

    try:
        server = await asyncio.start_server(connected, "::1", 0)
    except OSError:
        pytest.skip("This machine has no IPv6 loopback.")
    async with server, client() as http:
        response = await http.get(f"http://[::1]:{server.sockets[0].getsockname()[1]}/")

    assert response.text == "hello"


async def test_tls_is_spoken_with_a_server_that_shows_a_trusted_certificate() -> None:
    authority = trustme.CA()
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    async with _TlsServer(authority) as url:
        async with httpx.AsyncClient(transport=StreamTransport(tls=trusting)) as http:
            first, second = await http.get(url), await http.get(url)
        assert (first.text, second.text) == ("hello", "hello")


async def test_a_certificate_that_nobody_vouches_for_is_a_failed_connection() -> None:
    async with _TlsServer(trustme.CA()) as url, client() as http:
        with pytest.raises(httpx.ConnectError, match="certificate"):
            await http.get(url)


class _TlsServer:
    def __init__(self, authority: trustme.CA) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("localhost").configure_cert(self._context)

    async def __aenter__(self) -> str:
        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            while await reader.readline():
                await reader.readuntil(b"\r\n\r\n")
                writer.write(HELLO)
            writer.close()

        self._server = await asyncio.start_server(connected, "localhost", 0, ssl=self._context)
        return f"https://localhost:{self._server.sockets[0].getsockname()[1]}/"

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
