"""The transport of the sessions on real sockets: what goes wrong is called by its name."""

import asyncio
import resource
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import pytest

from db.vocabulary import ErrorReason, TransportEnd
from runner.campaign.campaign import Deadlines
from runner.errors import ClientExhaustedError
from runner.judge.json_values import JsonObject
from runner.judge.record import TurnRecord
from runner.sessions.session_transport import session_transport
from runner.sessions.streaming_client import StreamingClient
from tests.runner.sessions import wire
from tests.runner.sessions.raw_server import HEAD, LAST_CHUNK, Peer, raw_server

PATIENT = Deadlines(connect_s=30, first_token_s=30, no_progress_s=30, session_s=30)
HASTY = Deadlines(connect_s=0.15, first_token_s=0.15, no_progress_s=0.15, session_s=30)


async def send(
    url: str, deadlines: Deadlines = PATIENT, *, times: int = 1, user: str = "please"
) -> TurnRecord:
    body: JsonObject = {"stream": True, "messages": [{"role": "user", "content": user}]}
    async with StreamingClient(
        url, transport=session_transport(), deadlines=deadlines, linger_s=0.1
    ) as client:
        for number in range(times):
            record = await client.send(body, request_id=f"q-{number}")
    return record


async def whole_answer(peer: Peer) -> None:
    peer.write(HEAD)
    for piece in (wire.role(), wire.text("Done: amber"), wire.DONE):
        peer.write_chunk(piece)
    peer.write(LAST_CHUNK)


async def test_a_whole_answer_ends_cleanly_and_the_connection_is_used_again() -> None:
    async with raw_server(whole_answer) as server:
        record = await send(server.url, times=3)

    assert record.transport_end is TransportEnd.CLEAN_EOF
    assert record.body == wire.role() + wire.text("Done: amber") + wire.DONE
    assert (server.requests, server.connections) == (3, 1)


async def test_many_streams_are_open_at_once() -> None:
    arrived = asyncio.Semaphore(0)
    all_here = asyncio.Event()

    async def answer(peer: Peer) -> None:
        arrived.release()
        await all_here.wait()
        await whole_answer(peer)

    async with (
        raw_server(answer) as server,
        StreamingClient(server.url, transport=session_transport(), deadlines=PATIENT) as client,
        asyncio.TaskGroup() as group,
    ):
        for number in range(150):
            group.create_task(client.send({"stream": True}, request_id=f"q-{number}"))
        for _ in range(150):
            await arrived.acquire()
        all_here.set()

    assert client.most_in_flight == 150
    assert client.in_flight == 0


async def test_a_refused_connection_is_no_reset() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        record = await send(f"http://127.0.0.1:{unused.getsockname()[1]}")

    assert record.transport_end is TransportEnd.CONNECT_FAILED
    assert record.deadline is None


async def test_an_unknown_host_is_a_failed_connection() -> None:
    record = await send("http://no-such-host.invalid:1")

    assert record.transport_end is TransportEnd.CONNECT_FAILED


async def test_a_full_backlog_meets_the_connect_deadline() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(address)
        patient = HASTY.model_copy(update={"first_token_s": 30})
        record = await send(f"http://127.0.0.1:{address[1]}", patient)
        for each in waiting:
            each.close()

    assert record.transport_end is TransportEnd.CONNECT_FAILED
    assert record.deadline is ErrorReason.CONNECT


async def test_a_reset_before_the_answer_is_a_reset() -> None:
    async def answer(peer: Peer) -> None:
        peer.reset()

    async with raw_server(answer) as server:
        record = await send(server.url)

    assert record.transport_end is TransportEnd.RESET
    assert record.http_status is None


async def test_a_close_before_the_answer_is_a_reset() -> None:
    async def answer(peer: Peer) -> None:
        peer.writer.close()

    async with raw_server(answer) as server:
        record = await send(server.url)

    assert record.transport_end is TransportEnd.RESET


async def test_a_reset_inside_the_answer_keeps_what_had_come() -> None:
    async def answer(peer: Peer) -> None:
        peer.write(HEAD)
        peer.write_chunk(wire.text("Done"))
        await peer.writer.drain()
        await asyncio.sleep(0.05)  # so that the client reads before the reset drops the data
        peer.reset()

    async with raw_server(answer) as server:
        record = await send(server.url)

    assert record.transport_end is TransportEnd.RESET
    assert record.body == wire.text("Done")
    assert record.http_status == 200


async def test_a_close_inside_a_chunked_answer_is_a_reset() -> None:
    async def answer(peer: Peer) -> None:
        peer.write(HEAD)
        peer.write_chunk(wire.text("Done"))
        peer.writer.close()

    async with raw_server(answer) as server:
        record = await send(server.url)

    assert record.transport_end is TransportEnd.RESET
    assert record.body == wire.text("Done")


async def test_a_close_delimited_answer_ends_cleanly() -> None:
    async def answer(peer: Peer) -> None:
        peer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        peer.write(wire.answer_stream("Done"))
        peer.writer.close()

    async with raw_server(answer) as server:
        record = await send(server.url)

    assert record.transport_end is TransportEnd.CLEAN_EOF
    assert record.body == wire.answer_stream("Done")


@pytest.mark.parametrize("words", [b"this is no HTTP\r\n\r\n", b"HTTP/1.1 two OK\r\n\r\n"])
async def test_an_answer_that_is_no_http_is_a_reset(words: bytes) -> None:
    async def answer(peer: Peer) -> None:
        peer.write(words)
        await peer.until_closed()

    async with raw_server(answer) as server:
        record = await send(server.url)

    assert record.transport_end is TransportEnd.RESET


async def test_a_broken_chunk_size_is_a_reset() -> None:
    async def answer(peer: Peer) -> None:
        peer.write(HEAD)
        peer.write(b"many\r\n")
        await peer.until_closed()

    async with raw_server(answer) as server:
        record = await send(server.url)

    assert record.transport_end is TransportEnd.RESET


async def test_a_half_open_server_meets_the_deadline_and_sees_the_client_close() -> None:
    async def answer(peer: Peer) -> None:
        await peer.until_closed()

    async with raw_server(answer) as server:
        record = await send(server.url, HASTY)
        await asyncio.wait_for(server.closed_by_client.wait(), 10)

    assert record.deadline is ErrorReason.FIRST_TOKEN_TIMEOUT
    assert record.transport_end is TransportEnd.CLIENT_DEADLINE


async def test_a_stream_that_stalls_meets_the_deadline_and_sees_the_client_close() -> None:
    async def answer(peer: Peer) -> None:
        peer.write(HEAD)
        peer.write_chunk(wire.text("Done"))
        await peer.until_closed()

    async with raw_server(answer) as server:
        record = await send(server.url, HASTY)
        await asyncio.wait_for(server.closed_by_client.wait(), 10)

    assert record.deadline is ErrorReason.STALLED
    assert record.body == wire.text("Done")


async def test_a_server_that_does_not_read_the_request_meets_the_deadline() -> None:
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(8)
        record = await send(
            f"http://127.0.0.1:{deaf.getsockname()[1]}", HASTY, user="word " * 4_000_000
        )

    assert record.deadline is ErrorReason.FIRST_TOKEN_TIMEOUT


async def test_a_large_request_arrives_whole_and_with_its_length() -> None:
    bodies: list[bytes] = []

    async def answer(peer: Peer) -> None:
        assert b"transfer-encoding" not in peer.head.lower()
        bodies.append(peer.body)
        await whole_answer(peer)

    async with raw_server(answer) as server:
        record = await send(server.url, user="word " * 500_000)

    assert record.transport_end is TransportEnd.CLEAN_EOF
    assert bodies[0].count(b"word ") == 500_000


async def test_a_server_that_keeps_the_answer_open_after_done_is_left() -> None:
    async def answer(peer: Peer) -> None:
        peer.write(HEAD)
        peer.write_chunk(wire.answer_stream("Done"))
        await peer.until_closed()

    async with raw_server(answer) as server:
        record = await send(server.url)
        await asyncio.wait_for(server.closed_by_client.wait(), 10)

    assert record.transport_end is TransportEnd.CLEAN_EOF
    assert record.body == wire.answer_stream("Done")


async def test_a_cancelled_request_closes_its_connection() -> None:
    came = asyncio.Event()

    async def answer(peer: Peer) -> None:
        peer.write(HEAD)
        peer.write_chunk(wire.text("Done"))
        came.set()
        await peer.until_closed()

    async with raw_server(answer) as server:
        task = asyncio.create_task(send(server.url))
        await came.wait()
        task.cancel()
        await asyncio.wait([task])
        await asyncio.wait_for(server.closed_by_client.wait(), 10)

    assert task.cancelled()


async def test_a_lack_of_sockets_is_our_own_fault() -> None:
    async with raw_server(whole_answer) as server:
        with no_more_files(), pytest.raises(ClientExhaustedError, match="open files"):
            await send(server.url)


async def test_through_a_proxy_the_request_names_the_whole_address() -> None:
    seen: list[bytes] = []

    async def answer(peer: Peer) -> None:
        seen.append(peer.head.split(b"\r\n")[0])
        await whole_answer(peer)

    async with (
        raw_server(answer) as proxy,
        StreamingClient(
            "http://10.1.2.3:30000", transport=session_transport(proxy=proxy.url), deadlines=PATIENT
        ) as client,
    ):
        record = await client.send({"stream": True}, request_id="q-1")

    assert record.transport_end is TransportEnd.CLEAN_EOF
    assert seen == [b"POST http://10.1.2.3:30000/v1/chat/completions HTTP/1.1"]


@contextmanager
def no_more_files() -> Iterator[None]:
    """As where the limit of open files is reached."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with socket.socket() as last:
        resource.setrlimit(resource.RLIMIT_NOFILE, (last.fileno() + 1, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def answers_then(last_words: bytes, *, resets: bool) -> Callable[[Peer], Awaitable[None]]:
    """Answers a first request whole; ends its connection at the next, and answers on any other."""
    met: set[int] = set()

    async def answer(peer: Peer) -> None:
        if id(peer.writer) not in met:
            met.add(id(peer.writer))
            await whole_answer(peer)
            return
        peer.write(last_words)
        await peer.writer.drain()
        peer.reset() if resets else peer.writer.close()

    return answer


@pytest.mark.parametrize("resets", [True, False])
async def test_a_kept_connection_that_ends_without_a_byte_costs_one_more_request(
    resets: bool,
) -> None:
    async with raw_server(answers_then(b"", resets=resets)) as server:
        record = await send(server.url, times=2)

    assert record.transport_end is TransportEnd.CLEAN_EOF
    assert record.was_resent
    assert (server.requests, server.connections) == (3, 2)


async def test_a_kept_connection_that_ends_after_a_byte_is_a_reset() -> None:
    async with raw_server(answers_then(b"H", resets=False)) as server:
        record = await send(server.url, times=2)

    assert (record.transport_end, record.was_resent) == (TransportEnd.RESET, False)
    assert server.connections == 1


async def test_a_server_that_ends_each_connection_is_asked_twice_and_then_believed() -> None:
    requests = 0

    async def answer(peer: Peer) -> None:
        nonlocal requests
        requests += 1
        if requests == 1:
            await whole_answer(peer)
        else:
            peer.reset()

    async with raw_server(answer) as server:
        record = await send(server.url, times=2)

    assert (record.transport_end, record.was_resent) == (TransportEnd.RESET, True)
    assert server.requests == 3
