"""How a turn ended: deadlines, resets, errors in odd places, and what is no wedge."""

import json
from typing import Any

import pytest

from db.vocabulary import ErrorReason, TransportEnd
from tests.runner.judge.answers import call_delta, delta, judge, stream, text_stream, whole_body

ROLE = stream(delta({"role": "assistant", "content": ""}), done=False)
DEADLINE = TransportEnd.CLIENT_DEADLINE


def tokens(*times_s: float) -> tuple[bytes, tuple[tuple[float, int], ...]]:
    """A stream with one token at each time, and its reads."""
    body, reads = b"", []
    for at_s in times_s:
        body += stream(delta({"content": "word "}), done=False)
        reads.append((at_s, len(body)))
    return body, tuple(reads)


def test_keep_alives_until_our_deadline_are_a_wedge() -> None:
    body = ROLE + b": keep-alive\n\n" * 6
    reads = ((0.4, len(ROLE)), *((99.0 * n, len(ROLE) + 14 * n) for n in range(1, 7)))

    turn = judge(body, end=DEADLINE, reads=reads, ended_s=600)

    assert (turn.reading, turn.outcome, turn.reason) == ("wedge", "error", "first_token_timeout")
    assert "wedge_victim" in turn.flags
    assert turn.first_token_s is None


@pytest.mark.parametrize("body", [b"", b": ping\n\n", b": ping", ROLE, b"   \n"])
@pytest.mark.parametrize("status", [200, None])
def test_no_token_at_all_until_our_deadline_is_a_wedge(body: bytes, status: int | None) -> None:
    deadline = ErrorReason.FIRST_TOKEN_TIMEOUT

    turn = judge(body, end=DEADLINE, status=status, ended_s=60, deadline=deadline)

    assert (turn.reading, turn.reason) == ("wedge", "first_token_timeout")


def test_a_plain_body_that_never_came_is_a_wedge() -> None:
    assert judge(b"", is_stream=False, end=DEADLINE, ended_s=600).reading == "wedge"


def test_a_session_deadline_soon_after_the_request_says_nothing_about_the_server() -> None:
    deadline = ErrorReason.SESSION_TIMEOUT

    assert judge(ROLE, end=DEADLINE, ended_s=2.0, deadline=deadline).reading == "error"
    assert judge(ROLE, end=DEADLINE, ended_s=100.0, deadline=deadline).reading == "wedge"


def test_tokens_to_the_last_second_are_a_timeout_and_no_wedge() -> None:
    body, reads = tokens(0.5, 50.0, 100.0, 150.0, 199.0)

    turn = judge(body, end=DEADLINE, reads=reads, ended_s=200, deadline=ErrorReason.SESSION_TIMEOUT)

    assert (turn.reading, turn.outcome, turn.reason) == ("error", "error", "session_timeout")
    assert {"client_timeout", "progressing"} <= set(turn.flags)
    assert (turn.first_token_s, turn.last_progress_s) == (0.5, 199.0)


def test_tokens_that_stop_long_before_the_deadline_are_a_wedge() -> None:
    body, reads = tokens(0.5, 1.0, 1.5, 2.0)
    body += b": ping\n\n"

    turn = judge(body, end=DEADLINE, reads=(*reads, (580.0, len(body))), ended_s=600)

    assert (turn.reading, turn.reason) == ("wedge", "stalled")
    assert turn.last_progress_s == 2.0


def test_our_own_deadline_for_stalls_is_believed() -> None:
    body, reads = tokens(0.5, 1.0)

    turn = judge(body, end=DEADLINE, reads=reads, ended_s=21, deadline=ErrorReason.STALLED)

    assert (turn.reading, turn.reason) == ("wedge", "stalled")


def test_a_slow_stream_may_pause_as_long_as_it_always_did() -> None:
    body, reads = tokens(10.0, 60.0, 110.0)

    assert judge(body, end=DEADLINE, reads=reads, ended_s=190).reading == "error"


def test_a_long_wait_for_the_first_byte_is_fine_if_the_turn_then_ends() -> None:
    body = text_stream("Sunny.")

    turn = judge(body, tool_expected=False, reads=((210.2, 40), (211.9, len(body))), ended_s=212)

    assert turn.reading == "done"
    assert turn.first_token_s == 211.9


def test_a_turn_that_was_whole_before_the_connection_ended_badly_is_whole() -> None:
    body = text_stream("Sunny.")

    assert judge(body, tool_expected=False, end=DEADLINE, ended_s=600).reading == "done"
    assert judge(body, tool_expected=False, end=TransportEnd.RESET).flags == ("reset",)


def test_a_reset_in_mid_answer_is_an_error_and_no_wedge() -> None:
    body, reads = tokens(0.2, 2.1)

    turn = judge(body, end=TransportEnd.RESET, reads=reads, ended_s=2.1)

    assert (turn.reading, turn.reason) == ("error", "truncated")
    assert {"reset", "no_finish"} <= set(turn.flags)


def test_a_connection_that_ends_before_any_answer_is_told_from_an_answer_that_was_cut() -> None:
    nothing = judge(b"", end=TransportEnd.RESET, status=None)
    cut = judge(ROLE, end=TransportEnd.RESET)

    assert (nothing.reason, cut.reason) == ("truncated", "truncated")
    assert "the connection ended before an HTTP answer began" in nothing.detail
    assert "the answer was reset without a finish reason" in cut.detail


@pytest.mark.parametrize("done", [True, False])
def test_an_answer_without_a_finish_reason_is_truncated(done: bool) -> None:
    usage = {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 3}}

    turn = judge(stream(delta({"content": "Sunny."}), usage, done=done), tool_expected=False)

    assert (turn.reading, turn.reason, turn.flags) == ("error", "truncated", ("no_finish",))


def test_a_finish_reason_without_done_is_whole() -> None:
    body = stream(delta({"content": "4"}), delta({}, "stop"), done=False)

    assert judge(body, tool_expected=False).reading == "done"


def test_a_finish_chunk_without_its_blank_line_is_read() -> None:
    body = stream(delta({"content": "4"}), delta({}, "stop"), done=False).rstrip(b"\n")

    assert judge(body, tool_expected=False).reading == "done"


def test_a_call_cut_by_the_end_of_the_stream_is_an_error_and_by_length_malformed() -> None:
    cut = call_delta('{"city": "Os', name="get_weather", id="1")

    ended = judge(stream(cut, done=False))
    limited = judge(stream(cut, delta({}, "length")))

    assert (ended.reading, ended.reason) == ("error", "truncated")
    assert {"truncated_args", "no_finish"} <= set(ended.flags)
    assert (limited.reading, limited.reason) == ("malformed", None)
    assert {"truncated_args", "length"} <= set(limited.flags)


def test_a_whole_call_without_a_finish_reason_is_not_trusted() -> None:
    body = stream(call_delta('{"city": "Oslo"}', name="get_weather", id="1"), done=False)

    assert judge(body).reading == "error"


@pytest.mark.parametrize(
    ("status", "reason"),
    [(400, "http_4xx"), (429, "http_4xx"), (500, "http_5xx"), (504, "http_5xx")],
)
@pytest.mark.parametrize("body", [b"", b"<html>", b'{"error": {"message": "x"}}', b"busy"])
def test_a_refusing_status_is_an_error_whatever_the_body_is(
    status: int, reason: str, body: bytes
) -> None:
    turn = judge(body, status=status)

    assert (turn.reading, turn.outcome, turn.reason) == ("error", "error", reason)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (
            b'{"error": {"message": "maximum context length is\\n4096.", "code": 400}}',
            "the server answered with status 400: maximum context length is 4096.",
        ),
        (b'{"detail": "Not Found"}', "the server answered with status 400: Not Found."),
        (b"<html>", "the server answered with status 400."),
    ],
)
def test_why_a_request_was_refused_is_told_in_the_words_of_the_server(
    body: bytes, sentence: str
) -> None:
    assert sentence in judge(body, status=400).detail


@pytest.mark.parametrize("status", [301, 302, 307])
def test_a_redirect_is_no_answer(status: int) -> None:
    assert judge(b"", status=status).reason == "unreadable"


@pytest.mark.parametrize("end", [TransportEnd.CONNECT_FAILED, DEADLINE])
def test_a_connection_that_did_not_come_about_is_its_own_reason(end: TransportEnd) -> None:
    turn = judge(b"", status=None, end=end, deadline=ErrorReason.CONNECT)

    assert (turn.reading, turn.reason) == ("error", "connect")


ERRORS: list[Any] = [
    {"error": {"message": "no token in time", "code": 504}},
    {"error": "text"},
    {"object": "error", "message": "x", "code": 400},
    {"detail": "x"},
    {"error": {"message": "x"}, "choices": []},
    {"choices": [{"index": 0, "delta": {}, "error": {"message": "x"}, "finish_reason": "stop"}]},
    {"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "error"}]},
]


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_in_the_body_is_one_streamed_or_not_and_behind_any_text(error: Any) -> None:
    plain = json.dumps(error).encode()

    for body in (stream(error), stream(delta({"content": "It is"}), error), plain):
        turn = judge(body)
        assert (turn.reading, turn.reason) == ("error", "in_band_error")


@pytest.mark.parametrize("word", ["abort", "Aborted", "cancelled"])
def test_a_request_that_the_server_gave_up_is_aborted_by_it(word: str) -> None:
    turn = judge(stream(delta({"content": "It is"}), delta({}, word)))

    assert (turn.reading, turn.reason) == ("error", "aborted_by_server")
    assert "server_abort" in turn.flags


def test_an_error_that_tells_of_an_abort_is_aborted_by_the_server() -> None:
    turn = judge(stream({"error": {"message": "Request aborted by AbortReq", "code": 500}}))

    assert turn.reason == "aborted_by_server"


@pytest.mark.parametrize(
    "body",
    [
        b"<html><h1>It works</h1></html>",
        b"Internal Server Error",
        b'{"data": {"choices": []}, "success": true}',
        b"{}",
        b"[]",
        b"null",
        b'{"choices": []}',
        b'{"choices": [{"message"',
        b"data: ping\n\ndata: pong\n\n",
        b"\x1f\x8b\x08\x00",
    ],
)
def test_a_body_that_is_no_chat_completion_is_unreadable(body: bytes) -> None:
    turn = judge(body, tool_expected=False)

    assert (turn.reading, turn.reason) == ("error", "unreadable")


def test_an_empty_answer_of_the_connection_is_truncated() -> None:
    assert judge(b"").reason == "truncated"


@pytest.mark.parametrize(
    "lead", [b"", b"\xef\xbb\xbf", b"\n\n", b": OPENROUTER PROCESSING\n\n: x\n\n"]
)
def test_a_plain_body_is_read_behind_marks_white_space_and_comments(lead: bytes) -> None:
    turn = judge(lead + whole_body(content="4"), is_stream=False, tool_expected=False)

    assert turn.reading == "done"
    assert turn.message.content == "4"


def test_a_plain_body_in_answer_to_a_stream_is_read_and_marked() -> None:
    turn = judge(whole_body(content="4"), tool_expected=False)

    assert (turn.reading, turn.flags) == ("done", ("not_streamed",))


def test_a_stream_in_answer_to_a_plain_request_is_read() -> None:
    assert judge(text_stream("4"), is_stream=False, tool_expected=False).reading == "done"


def test_a_whole_plain_body_needs_no_finish_reason() -> None:
    body = whole_body(finish=None, content="4")

    assert judge(body, is_stream=False, tool_expected=False).reading == "done"


def test_reads_beyond_the_body_or_out_of_order_do_no_harm() -> None:
    body = text_stream("Sunny.")

    turn = judge(body, tool_expected=False, reads=((1.0, 90), (2.0, 20), (3.0, 10**9)))

    assert turn.reading == "done"


def test_a_request_that_went_out_twice_is_marked_and_read_like_any_other() -> None:
    turn = judge(whole_body(content="4"), is_stream=False, tool_expected=False, was_resent=True)

    assert (turn.reading, turn.flags) == ("done", ("resent",))
