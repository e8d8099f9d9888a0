"""The transport under httpx's own client, against servers that say exactly what a test wants."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable
from itertools import pairwise
from typing import Any

import httpx
import pytest
import trustme
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.sessions.http_answer import MAX_OVERHEAD_BYTES
from runner.sessions.stream_transport import StreamTransport
from runner.sessions.streaming_client import PushingStream
from tests.runner.sessions.raw_server import Peer, raw_server

OK = b"HTTP/1.1 200 OK\r\n"
HELLO = OK + b"content-length: 5\r\n\r\nhello"


def client(*, keepalive_s: float = 2.0, read_s: float | None = 20) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=StreamTransport(keepalive_s=keepalive_s),
        timeout=httpx.Timeout(20, read=read_s),
        trust_env=False,
    )


async def get(answer: bytes, *, method: str = "GET", times: int = 1) -> tuple[httpx.Response, int]:
    """The last answer, and how many connections it took."""

    async def say(peer: Peer) -> None:
        peer.write(answer)

    async with raw_server(say) as server, client() as http:
        for _ in range(times):
            response = await http.request(method, server.url)
    return response, server.connections


async def says(answer: bytes) -> str:
    """How a GET fails where the server says this and hangs up."""

    async def say(peer: Peer) -> None:
        peer.write(answer)
        peer.writer.close()

    async with raw_server(say) as server, client() as http:
        with pytest.raises(httpx.RemoteProtocolError) as caught:
            await http.get(server.url)
    return str(caught.value)


async def test_status_reason_headers_and_body_arrive() -> None:
    response, _ = await get(
        b"HTTP/1.1 418 I'm a teapot\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n"
        b"content-length: 5\r\n\r\nhello"
    )

    assert (response.status_code, response.reason_phrase) == (418, "I'm a teapot")
    assert response.headers.get_list("set-cookie") == ["a=1", "b=2"]
    assert response.text == "hello"
    assert response.http_version == "HTTP/1.1"


@pytest.mark.parametrize(
    ("answer", "body", "connections"),
    [
        (HELLO, b"hello", 1),
        (OK + b"content-length: 0\r\n\r\n", b"", 1),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b"", 1),
        (
            OK + b"transfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n",
            b"hello",
            1,
        ),
        (
            OK + b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n",
            b"hello",
            1,
        ),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + HELLO, b"hello", 1),
        (b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" + HELLO, b"hello", 1),
        (OK + b"connection: close\r\ncontent-length: 5\r\n\r\nhello", b"hello", 3),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello", b"hello", 3),
        (HELLO + HELLO, b"hello", 3),
    ],
    ids=[
        "length",
        "empty",
        "204",
        "chunked",
        "trailer",
        "continue",
        "early hints",
        "close",
        "HTTP/1.0",
        "two answers to one request",
    ],
)
async def test_framings_are_read_and_connections_kept_where_they_may_be(
    answer: bytes, body: bytes, connections: int
) -> None:
    response, opened = await get(answer, times=3)

    assert response.content == body
    assert opened == connections


async def test_the_answer_to_head_has_no_body() -> None:
    response, opened = await get(OK + b"content-length: 5\r\n\r\n", method="HEAD", times=2)

    assert (response.content, response.headers["content-length"]) == (b"", "5")
    assert opened == 2


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (b"", "hung up without an answer"),
        (OK, "hung up without an answer"),
        (OK + b"content-length: 6\r\n\r\nhello", "inside its answer"),
        (OK + b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n", "inside its answer"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "no HTTP/1.1"),
        (OK + b"content-length: five\r\n\r\nhello", "no HTTP/1.1"),
        (OK + b"content-length: 5\r\ncontent-length: 6\r\n\r\nhello", "no HTTP/1.1"),
        (
            b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
            "another protocol",
        ),
        (b"HTTP/1.1 200 OK\r\nx: " + b"a" * 2 * MAX_OVERHEAD_BYTES, "a head without an end"),
        (
            OK
            + b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"
            + b"x-a: b\r\n" * (MAX_OVERHEAD_BYTES // 4),
            "trailers or chunk extensions without an end",
        ),
    ],
)
async def test_what_is_no_whole_answer_is_named(answer: bytes, sentence: str) -> None:
    assert sentence in await says(answer)


async def test_a_body_without_a_length_ends_with_its_connection() -> None:
    async def say(peer: Peer) -> None:
        peer.write(OK + b"\r\nhello")
        peer.writer.close()

    async with raw_server(say) as server, client() as http:
        response = await http.get(server.url)

    assert response.content == b"hello"


@given(cuts=st.lists(st.integers(1, 60), max_size=12, unique=True))
@settings(max_examples=30, deadline=None)
def test_no_cut_between_two_reads_changes_what_is_read(cuts: list[int]) -> None:
    answer = OK + b"transfer-encoding: chunked\r\nx: y\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"

    async def read() -> tuple[bytes, str]:
        async def say(peer: Peer) -> None:
            for start, end in _spans(sorted(cuts), len(answer)):
                peer.write(answer[start:end])
                await peer.writer.drain()
                await asyncio.sleep(0)

        async with raw_server(say) as server, client() as http:
            response = await http.get(server.url)
        return response.content, response.headers["x"]

    assert asyncio.run(read()) == (b"hello", "y")


def _spans(cuts: list[int], end: int) -> Iterable[tuple[int, int]]:
    edges = [0, *(cut for cut in cuts if cut < end), end]
    return pairwise(edges)


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


async def pushed(peer_says: list[bytes], *, enough_bytes: int = 10**9) -> bytes:
    """What a body gives away piece by piece, with a pause of the server's between two pieces."""
    taken = bytearray()

    async def say(peer: Peer) -> None:
        for piece in peer_says:
            peer.write(piece)
            await peer.writer.drain()
            await asyncio.sleep(0)
        peer.writer.close()

    def take(piece: bytes) -> bool:
        taken.extend(piece)
        return len(taken) < enough_bytes

    async with raw_server(say) as server:
        transport = StreamTransport()
        response = await transport.handle_async_request(httpx.Request("GET", server.url))
        assert isinstance(response.stream, PushingStream)
        try:
            await response.stream.each_piece(take)
        finally:
            await response.stream.aclose()
            await transport.aclose()
    return bytes(taken)


CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"


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

    def take(piece: bytes) -> bool:
        taken.append(piece)
        return True

    async with raw_server(say) as server:
        transport = StreamTransport()
        response = await transport.handle_async_request(httpx.Request("GET", server.url))
        assert isinstance(response.stream, PushingStream)
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

    def take(piece: bytes) -> bool:
        raise ValueError(f"no use for {piece!r}")

    async with raw_server(say) as server:
        transport = StreamTransport()
        response = await transport.handle_async_request(httpx.Request("GET", server.url))
        assert isinstance(response.stream, PushingStream)
        with pytest.raises(ValueError, match="no use for"):
            await response.stream.each_piece(take)
        await response.stream.aclose()
        async with asyncio.timeout(120):
            await server.closed_by_client.wait()


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
