"""What is read as an answer, however it is framed and cut, and what is none."""

import asyncio
from collections.abc import Iterable
from itertools import pairwise

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.sessions.http_answer import MAX_OVERHEAD_BYTES
from tests.runner.sessions.raw_server import Peer, raw_server
from tests.runner.sessions.transport_client import HELLO, OK, client, get

SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"


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
        (HELLO + SWITCH, b"hello", 3),
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
        "another protocol behind the answer",
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
        (SWITCH, "another protocol"),
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


async def says(answer: bytes) -> str:
    """How a GET fails where the server says this and hangs up."""

    async def say(peer: Peer) -> None:
        peer.write(answer)
        peer.writer.close()

    async with raw_server(say) as server, client() as http:
        with pytest.raises(httpx.RemoteProtocolError) as caught:
            await http.get(server.url)
    return str(caught.value)


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
