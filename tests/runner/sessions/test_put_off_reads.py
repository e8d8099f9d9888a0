"""Reads that end no answer are parsed later, several at once; only their cost tells it."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import NamedTuple

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from db.read_times import ReadTimes
from db.vocabulary import ErrorReason, TransportEnd
from runner.campaign.campaign import Deadlines
from runner.judge.record import TurnRecord
from runner.sessions.connection_pool import ConnectionPool, Origin
from runner.sessions.http_answer import HttpAnswer
from runner.sessions.http_connection import HttpConnection
from runner.sessions.parse_sweep import PARSED_WITHIN_S, ParseSweep
from runner.sessions.stream_transport import PushedBody
from runner.sessions.streaming_client import LINGER_S, StreamingClient
from tests.runner.sessions import wire
from tests.runner.sessions.fast_forward import run_in_no_time
from tests.runner.sessions.raw_server import HEAD, LAST_CHUNK

Script = Sequence[tuple[float, bytes]]
"""What a server says: seconds after what it said before, and the bytes of one read."""


def framed(event: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(event), event)


TOKEN = framed(wire.text("word"))
STOP = framed(wire.chunk(finish="stop"))


class Line(asyncio.Transport):
    """A connection's socket: what is written goes nowhere."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        return

    def abort(self) -> None:
        return

    def get_write_buffer_size(self) -> int:
        return 0


class Taken(NamedTuple):
    piece: bytes
    read_at_s: float
    given_at_s: float


@asynccontextmanager
async def answering(script: Script) -> AsyncIterator[HttpConnection]:
    """A connection whose head has come, and which reads the rest as the script has it."""

    async def serve() -> None:
        for after_s, data in script:
            await asyncio.sleep(after_s)
            connection.data_received(data)

    connection = HttpConnection(ParseSweep())
    connection.connection_made(Line())
    connection.begin("POST", b"POST / HTTP/1.1\r\n\r\n")
    connection.end_request()
    connection.data_received(HEAD)
    serving = asyncio.create_task(serve())
    yield connection
    await serving


def taken_of(script: Script) -> tuple[list[Taken], float]:
    """All that was given away, and when the answer had ended."""
    taken: list[Taken] = []

    def take(pieces: list[bytes], at_s: list[float]) -> bool:
        now_s = asyncio.get_running_loop().time()
        taken.extend(map(Taken, pieces, at_s, [now_s] * len(pieces)))
        return True

    async def receive() -> float:
        async with answering(script) as connection:
            await connection.each_piece(take)
            return asyncio.get_running_loop().time()

    return taken, run_in_no_time(receive())


def test_each_token_keeps_the_time_at_which_it_was_read() -> None:
    taken, ended_s = taken_of([*[(0.02, TOKEN)] * 30, (0.02, STOP + LAST_CHUNK)])

    assert [each.read_at_s for each in taken] == pytest.approx([0.02 * n for n in range(1, 32)])
    assert {each.piece for each in taken[:-1]} == {wire.text("word")}
    assert {each.given_at_s for each in taken} == {ended_s}


def test_the_end_of_an_answer_is_seen_within_its_read() -> None:
    taken, ended_s = taken_of([(0.02, TOKEN), (0.02, framed(wire.DONE)), (0.5, LAST_CHUNK)])

    assert ended_s == pytest.approx(0.54)
    assert [each.given_at_s for each in taken] == pytest.approx([0.04, 0.04])


def test_the_word_that_ends_a_stream_is_given_away_at_once() -> None:
    taken, _ = taken_of([(0.1, TOKEN), (0.1, framed(wire.DONE)), (60, LAST_CHUNK)])

    assert [each.given_at_s for each in taken] == pytest.approx([0.2, 0.2])


def test_what_is_followed_by_silence_is_given_away_soon() -> None:
    taken, _ = taken_of([(0.1, TOKEN), (0.1, TOKEN), (60, LAST_CHUNK)])

    assert [each.given_at_s for each in taken] == pytest.approx([0.1 + PARSED_WITHIN_S] * 2)


def test_a_flood_is_not_put_off() -> None:
    taken, _ = taken_of([(0.1, TOKEN), *[(0.0, TOKEN)] * 999, (0.1, LAST_CHUNK)])

    assert len(taken) == 1_000
    late = [each for each in taken if each.given_at_s > each.read_at_s]
    assert len(late) < 64


def test_what_is_no_http_fails_soon_although_the_server_is_silent_then() -> None:
    async def receive() -> float:
        async with answering([(0.1, TOKEN), (0.1, b"zz\r\n" + TOKEN)]) as connection:
            with pytest.raises(httpx.RemoteProtocolError, match=r"no HTTP/1\.1"):
                await connection.each_piece(lambda pieces, at_s: True)
            return asyncio.get_running_loop().time()

    assert run_in_no_time(receive()) == pytest.approx(0.1 + PARSED_WITHIN_S)


@given(
    pieces=st.lists(
        st.sampled_from([TOKEN, STOP, framed(wire.DONE), framed(b"a\n\n\r\nb"), TOKEN + STOP]),
        max_size=80,
    ),
    cuts=st.lists(st.integers(0, 12_000), max_size=20),
    is_cut_at_pieces=st.booleans(),
)
@settings(deadline=None)
def test_reads_bring_what_they_bring_when_each_is_parsed_alone(
    pieces: list[bytes], cuts: list[int], is_cut_at_pieces: bool
) -> None:
    stream = b"".join(pieces) + LAST_CHUNK
    ends = [len(b"".join(pieces[:number])) for number in range(len(pieces))]
    edges = {0, len(stream), *(ends if is_cut_at_pieces else ()), *cuts}
    reads = [
        stream[a:b] for a, b in pairwise(sorted(edge for edge in edges if edge <= len(stream)))
    ]

    taken, _ = taken_of([(0.01, data) for data in reads])

    alone, expected = HttpAnswer("POST"), []
    alone.feed([HEAD])
    for number, data in enumerate(reads, start=1):
        alone.feed([data])
        expected += [(piece, pytest.approx(0.01 * number)) for piece in alone.take()]
    assert [(each.piece, each.read_at_s) for each in taken] == expected


class Carrier(httpx.AsyncBaseTransport):
    """Gives the answer of a script to one request."""

    def __init__(self, script: Script, headers: Mapping[str, str]) -> None:
        self._script = script
        self._headers = headers

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self._answering = answering(self._script)
        connection = await self._answering.__aenter__()
        await connection.head()
        body = PushedBody(
            ConnectionPool(keepalive_s=2), Origin("http", "model", 80), connection, None
        )
        return httpx.Response(200, headers=self._headers, stream=body)


HASTY = Deadlines(connect_s=1, first_token_s=0.5, no_progress_s=0.5, session_s=60)


def sent(
    script: Script,
    *,
    deadlines: Deadlines = HASTY,
    headers: Mapping[str, str] = {},
    is_stream: bool = True,
    max_body_bytes: int = 10_000,
) -> TurnRecord:
    async def send() -> TurnRecord:
        async with StreamingClient(
            "http://model",
            transport=Carrier(script, headers),
            deadlines=deadlines,
            max_body_bytes=max_body_bytes,
        ) as client:
            return await client.send({"stream": is_stream}, request_id="q")

    return run_in_no_time(send())


def test_deadlines_know_the_tokens_that_were_put_off() -> None:
    record = sent([*[(0.3, TOKEN)] * 20, (0.3, STOP + LAST_CHUNK)])

    assert record.transport_end is TransportEnd.CLEAN_EOF
    assert len(record.reads) == 21
    assert record.ended_s == pytest.approx(6.3)


def test_an_answer_that_stalls_keeps_the_tokens_that_were_put_off() -> None:
    record = sent([(0.3, TOKEN), (0.1, TOKEN), (60, LAST_CHUNK)])

    assert record.deadline is ErrorReason.STALLED
    assert record.ended_s == pytest.approx(0.9)
    assert record.body == wire.text("word") * 2
    assert record.reads.times_s == pytest.approx((0.3, 0.4))


def test_the_word_that_ends_a_stream_is_found_in_time_where_two_reads_cut_it() -> None:
    assert PARSED_WITHIN_S <= LINGER_S  # else such an answer would be waited for longer
    done = framed(wire.DONE)
    at = done.index(b"NE]")

    record = sent([(0.1, TOKEN), (0.1, done[:at]), (0.1, done[at:]), (60, b"")])

    assert record.transport_end is TransportEnd.CLEAN_EOF
    assert record.ended_s == pytest.approx(0.3 + LINGER_S)


def test_a_stream_that_says_done_and_does_not_end_is_waited_for_no_longer_than_a_second() -> None:
    record = sent([(0.1, TOKEN), (0.1, framed(wire.DONE)), (60, LAST_CHUNK)])

    assert record.transport_end is TransportEnd.CLEAN_EOF
    assert record.ended_s == pytest.approx(1.2)


def stored(event: bytes) -> bytes:
    """As gzip holds what it does not compress; it ends with the event's own bytes."""
    size = len(event)
    return framed(
        b"\0" + size.to_bytes(2, "little") + (size ^ 0xFFFF).to_bytes(2, "little") + event
    )


def test_a_gzipped_answer_that_is_full_keeps_no_read_behind() -> None:
    gzip_head = framed(b"\x1f\x8b\x08\0\0\0\0\0\0\xff")
    tokens = [(0.1, stored(wire.text("word")))] * 5
    size = len(wire.text("word"))

    record = sent(
        [(0.1, gzip_head), *tokens, (60, LAST_CHUNK)],
        headers={"content-encoding": "gzip"},
        max_body_bytes=2 * size,
    )

    assert record.body == wire.text("word") * 2
    assert record.reads == ReadTimes((0.2, 0.3), (size, 2 * size))


def test_what_is_no_http_is_no_deadline_although_it_was_put_off_until_then() -> None:
    record = sent(
        [(0.1, TOKEN), (0.1, b"zz\r\n" + TOKEN), (60, LAST_CHUNK)],
        deadlines=Deadlines(connect_s=1, first_token_s=0.5, no_progress_s=0.5, session_s=0.4),
        is_stream=False,
    )

    assert (record.transport_end, record.deadline) == (TransportEnd.RESET, None)
    assert record.body == wire.text("word")
