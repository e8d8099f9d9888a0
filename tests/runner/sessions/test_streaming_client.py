"""What the client records of every kind of answer; time is the loop's, and no socket is used."""

import asyncio
import gzip
import json
from collections.abc import Sequence
from datetime import date

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.read_times import ReadTimes
from db.vocabulary import ErrorReason, TransportEnd
from runner.campaign.campaign import Deadlines
from runner.judge.json_values import Json, JsonObject
from runner.judge.record import TurnRecord
from runner.sessions.streaming_client import StreamingClient, encode_body
from tests.runner.sessions import wire
from tests.runner.sessions.fast_forward import FastForwardLoop, run_in_no_time
from tests.runner.sessions.scripted_transport import (
    FOREVER,
    FailingTransport,
    ScriptedTransport,
    Step,
)

DEADLINES = Deadlines(connect_s=10, first_token_s=60, no_progress_s=30, session_s=200)


def send(
    transport: httpx.AsyncBaseTransport,
    *,
    stream: bool = True,
    session_left_s: float | None = None,
    max_body_bytes: int = 10_000,
) -> TurnRecord:
    async def once() -> TurnRecord:
        client = StreamingClient(
            "http://server",
            transport=transport,
            deadlines=DEADLINES,
            headers={"authorization": "Bearer secret"},
            max_body_bytes=max_body_bytes,
        )
        async with client:
            return await client.send(
                {"model": "m", "stream": stream}, request_id="q-1", session_left_s=session_left_s
            )

    return run_in_no_time(once())


def play(*script: Step, **options: float) -> TurnRecord:
    return send(ScriptedTransport(script), **options)  # type: ignore[arg-type]


def steps(pieces: Sequence[bytes], *, each_s: float) -> list[Step]:
    return [(each_s, piece) for piece in pieces]


def test_every_read_is_recorded_with_its_time() -> None:
    first, second = wire.role(), wire.answer_stream("Done: amber")

    record = play((0.5, first), (1.25, second))

    assert record == TurnRecord(
        stream=True,
        http_status=200,
        content_type="text/event-stream",
        transport_end=TransportEnd.CLEAN_EOF,
        body=first + second,
        reads=ReadTimes((0.5, 1.75), (len(first), len(first) + len(second))),
        ended_s=1.75,
    )


def test_the_request_carries_its_id_and_key_and_asks_for_plain_bytes() -> None:
    transport = ScriptedTransport([(0, wire.DONE)])

    send(transport)

    (request,) = transport.requests
    assert str(request.url) == "http://server/v1/chat/completions"
    assert request.headers["x-request-id"] == "q-1"
    assert request.headers["authorization"] == "Bearer secret"
    assert request.headers["accept-encoding"] == "identity"
    assert json.loads(request.read()) == {"model": "m", "stream": True}


def test_a_server_that_never_answers_meets_the_first_token_deadline() -> None:
    record = send(ScriptedTransport([(0, b"")], head_after_s=FOREVER))

    assert record.transport_end is TransportEnd.CLIENT_DEADLINE
    assert record.deadline is ErrorReason.FIRST_TOKEN_TIMEOUT
    assert (record.http_status, record.body, record.ended_s) == (None, b"", 60)


def test_comments_and_a_role_are_no_first_token() -> None:
    record = play((0.4, wire.role()), *steps([wire.COMMENT] * 500, each_s=9))

    assert record.deadline is ErrorReason.FIRST_TOKEN_TIMEOUT
    assert record.ended_s == 60
    assert record.body.count(b"keep-alive") == 6


def test_comments_and_usage_after_a_token_are_no_progress() -> None:
    signs = [wire.COMMENT, wire.usage(1, 1)] * 500
    record = play((50, wire.text("Done")), *steps(signs, each_s=7))

    assert record.deadline is ErrorReason.STALLED
    assert record.ended_s == 80


def test_tokens_that_keep_coming_are_cut_by_the_session_deadline_only() -> None:
    record = play(*steps([wire.text("a")] * 500, each_s=29), max_body_bytes=10**6)

    assert record.deadline is ErrorReason.SESSION_TIMEOUT
    assert record.ended_s == 200
    assert len(record.reads) == 6


def test_what_is_left_of_the_session_counts_and_not_the_whole() -> None:
    record = play((FOREVER, b""), session_left_s=12.5)

    assert record.deadline is ErrorReason.SESSION_TIMEOUT
    assert record.ended_s == 12.5


def test_a_byte_a_second_makes_no_event_and_so_no_progress() -> None:
    pieces = [bytes([byte]) for byte in wire.text("a word " * 200)]

    record = play(*steps(pieces, each_s=1))

    assert record.deadline is ErrorReason.FIRST_TOKEN_TIMEOUT
    assert len(record.body) in (59, 60)


def test_half_an_event_in_each_read_is_progress_once_it_is_whole() -> None:
    event = wire.text("word")
    halves = [event[:20], event[20:]] * 3

    record = play(*steps(halves, each_s=14), (0, wire.DONE))

    assert record.transport_end is TransportEnd.CLEAN_EOF
    assert record.ended_s == 84


class HeldUpTransport(ScriptedTransport):
    """Holds the event loop up for 100 s, one second after the request."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, FastForwardLoop)
        loop.call_later(1, loop.jump, 100)
        return await super().handle_async_request(request)


def test_what_came_while_our_own_loop_was_held_up_is_read_before_a_deadline_is_called() -> None:
    pieces = [wire.text("Done:"), wire.text(" amber"), wire.DONE]
    answered = send(HeldUpTransport([(50, wire.role()), *steps(pieces, each_s=0)]))
    silent = send(HeldUpTransport([(FOREVER, b"")]))

    assert answered.transport_end is TransportEnd.CLEAN_EOF
    assert silent.deadline is ErrorReason.FIRST_TOKEN_TIMEOUT


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "content"])
def test_reasoning_is_progress_like_content(field: str) -> None:
    record = play(*steps([wire.chunk({field: "hm"})] * 5, each_s=29), (0, wire.DONE))

    assert record.transport_end is TransportEnd.CLEAN_EOF


def test_after_done_the_open_connection_is_waited_for_briefly() -> None:
    record = play((1, wire.answer_stream("Done")), (FOREVER, b""))

    assert record.transport_end is TransportEnd.CLEAN_EOF
    assert record.deadline is None
    assert record.ended_s == 2


def test_done_is_seen_across_two_reads_and_not_inside_a_text() -> None:
    answer = wire.text("data: [DONE]") + wire.DONE
    cut = answer.rindex(b"[DO") + 2

    record = play((1, answer[:cut]), (5, answer[cut:]), (FOREVER, b""))

    assert record.body == answer
    assert record.ended_s == 7


def test_an_answer_that_is_no_stream_waits_for_the_session_deadline() -> None:
    late = send(ScriptedTransport([(150, b'{"choices": []}')]), stream=False)
    never = send(ScriptedTransport([(0, b"")], head_after_s=FOREVER), stream=False)

    assert (late.transport_end, late.body) == (TransportEnd.CLEAN_EOF, b'{"choices": []}')
    assert (never.deadline, never.ended_s) == (ErrorReason.SESSION_TIMEOUT, 200)


def test_a_lost_connection_keeps_what_had_come() -> None:
    record = play((1, wire.text("Do")), (1, httpx.ReadError("reset by peer")))

    assert record.transport_end is TransportEnd.RESET
    assert record.body == wire.text("Do")
    assert record.deadline is None


@pytest.mark.parametrize(
    ("error", "deadline"),
    [
        (httpx.ConnectError("refused"), None),
        (httpx.ConnectTimeout("slow"), ErrorReason.CONNECT),
    ],
)
def test_no_connection_is_its_own_end(error: Exception, deadline: ErrorReason | None) -> None:
    record = send(FailingTransport(error))

    assert record.transport_end is TransportEnd.CONNECT_FAILED
    assert record.deadline is deadline
    assert record.http_status is None


@pytest.mark.parametrize(
    "error",
    [httpx.UnsupportedProtocol("ftp"), httpx.PoolTimeout("full"), ZeroDivisionError("ours")],
)
def test_faults_of_our_own_are_raised(error: Exception) -> None:
    with pytest.raises(type(error)):
        send(FailingTransport(error))


def test_what_cannot_be_sent_as_json_is_our_own_fault() -> None:
    async def send_nan() -> None:
        transport = ScriptedTransport([(0, b"")])
        async with StreamingClient("http://s", transport=transport, deadlines=DEADLINES) as client:
            await client.send({"temperature": float("nan")}, request_id="q")

    with pytest.raises(ValueError, match="not JSON compliant"):
        run_in_no_time(send_nan())


@pytest.mark.parametrize("status", [302, 400, 503])
def test_other_statuses_are_recorded_and_redirects_are_not_followed(status: int) -> None:
    headers = {"content-type": "text/html", "location": "http://elsewhere/"}
    transport = ScriptedTransport([(0, b"<html>no</html>")], status=status, headers=headers)

    record = send(transport)

    assert (record.http_status, record.content_type) == (status, "text/html")
    assert record.body == b"<html>no</html>"
    assert len(transport.requests) == 1


def test_an_answer_without_end_is_capped() -> None:
    transport = ScriptedTransport([(0.001, wire.text("word"))] * 1_000)

    record = send(transport, max_body_bytes=5_000)

    assert len(record.body) == 5_000
    assert record.transport_end is TransportEnd.CLIENT_DEADLINE
    assert record.reads.ends_bytes[-1] == 5_000
    assert transport.closed == 1


@pytest.mark.parametrize("cut", [1, 40])
def test_a_gzipped_answer_is_recorded_readable(cut: int) -> None:
    answer = wire.answer_stream("Done: amber")
    packed = gzip.compress(answer)
    headers = {"content-type": "text/event-stream", "content-encoding": "gzip"}
    script = [(1.0, packed[:cut]), (1.0, packed[cut:])]

    record = send(ScriptedTransport(script, headers=headers))

    assert record.body == answer
    assert [*record.reads.pairs()][-1] == (2.0, len(answer))


def test_a_broken_gzip_is_recorded_as_it_came() -> None:
    headers = {"content-type": "text/event-stream", "content-encoding": "gzip"}

    record = send(ScriptedTransport([(1.0, b"no gzip at all")], headers=headers))

    assert record.body == b"no gzip at all"


def test_a_gzip_bomb_grows_to_the_cap_and_no_further() -> None:
    headers = {"content-type": "text/event-stream", "content-encoding": "gzip"}
    bomb = gzip.compress(b"a" * 10_000_000)

    record = send(ScriptedTransport([(1.0, bomb)], headers=headers), max_body_bytes=5_000)

    assert record.body == b"a" * 5_000


def test_a_deadline_closes_the_connection() -> None:
    transport = ScriptedTransport([(FOREVER, b"")])

    send(transport)

    assert transport.closed == 1


def test_cookies_of_one_session_do_not_reach_the_next() -> None:
    transport = ScriptedTransport(
        [(0, wire.DONE)], headers={"set-cookie": "route=3", "content-type": "text/event-stream"}
    )

    async def twice() -> None:
        async with StreamingClient(
            "http://server", transport=transport, deadlines=DEADLINES
        ) as client:
            await client.send({"stream": True}, request_id="q-1")
            await client.send({"stream": True}, request_id="q-2")

    run_in_no_time(twice())

    assert "cookie" not in transport.requests[1].headers


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=12,
    )
)
def test_a_body_is_sent_as_json_that_means_the_same_or_not_at_all(value: Json) -> None:
    body: JsonObject = {"field": value}
    try:
        expected = json.dumps(body, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        with pytest.raises(ValueError, match=r"JSON compliant|surrogates"):
            encode_body(body)
        return

    assert json.loads(encode_body(body)) == json.loads(expected)


@pytest.mark.parametrize("value", [{1, 2}, b"bytes", date(2026, 1, 1), 1j])
def test_what_json_does_not_know_is_not_sent_as_something_else(value: object) -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        encode_body({"field": value})  # type: ignore[dict-item]
