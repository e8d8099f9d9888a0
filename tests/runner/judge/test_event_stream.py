from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from runner.judge.event_stream import EventStreamDecoder, ServerSentEvent


def decode(*parts: bytes, max_event_bytes: int = 1 << 20) -> list[ServerSentEvent]:
    decoder = EventStreamDecoder(max_event_bytes=max_event_bytes)
    events = [event for part in parts for event in decoder.feed(part)]
    return events + decoder.close()


def data_of(*parts: bytes) -> list[str]:
    return [event.data for event in decode(*parts)]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


PIECES = [
    b"data:",
    b"data: ",
    b"event: error",
    b"id: 7",
    b"retry: 10",
    b": ping",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\xef\xbb\xbf",
    "晴れ🌤".encode(),
    b"\xf0\x9f",
    b"x",
    b" ",
    b"[DONE]",
]
STREAM_BYTES = st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join)


def test_an_event_is_its_data_lines_joined() -> None:
    assert data_of(b'data: {"a":\ndata: 1}\n\n') == ['{"a":\n1}']


def test_the_space_behind_the_colon_is_optional_and_only_one_is_dropped() -> None:
    assert data_of(b"data:x\n\ndata:  y\n\n") == ["x", " y"]


def test_all_three_line_ends_separate_lines() -> None:
    assert data_of(b"data: a\r\n\r\ndata: b\r\rdata: c\n\n") == ["a", "b", "c"]


def test_a_line_end_cut_between_two_reads_is_one_line_end() -> None:
    assert data_of(b"data: a\r", b"\n\r", b"\ndata: b\r\n\r\n") == ["a", "b"]


def test_comments_and_blank_lines_make_no_event_but_are_counted() -> None:
    decoder = EventStreamDecoder()

    events = decoder.feed(b": ping\n\n: ping\n\n\n")

    assert events == []
    assert decoder.comments == 2


def test_event_names_hold_for_one_event_and_ids_for_all_that_follow() -> None:
    events = decode(b"event: error\nid: 7\ndata: x\n\ndata: y\n\n")

    assert [(event.event, event.id) for event in events] == [("error", "7"), ("message", "7")]


def test_an_id_with_a_null_byte_and_a_retry_that_is_no_number_are_ignored() -> None:
    assert decode(b"id: a\0b\nretry: soon\ndata: x\n\n") == [ServerSentEvent("x")]


def test_the_byte_order_mark_is_dropped_at_the_start_only() -> None:
    assert data_of(b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n") == ["a"]


def test_characters_cut_between_reads_stay_whole() -> None:
    stream = "data: Tromsø 晴れ 🌤\n\n".encode()

    assert data_of(*(stream[place : place + 1] for place in range(len(stream)))) == [
        "Tromsø 晴れ 🌤"
    ]


def test_bytes_that_are_no_utf8_are_replaced_and_the_rest_is_kept() -> None:
    assert data_of(b"data: a\xffb\n\n") == ["a\ufffdb"]


def test_an_event_cut_by_the_end_of_the_stream_is_reported_as_unfinished() -> None:
    assert decode(b'data: {"a') == [ServerSentEvent('{"a', is_finished=False)]
    assert decode(b"data: x\n") == [ServerSentEvent("x", is_finished=False)]


def test_a_field_without_a_colon_has_an_empty_value() -> None:
    assert data_of(b"data\n\n") == [""]


def test_an_event_beyond_the_limit_is_cut_and_says_so() -> None:
    events = decode(b"data: " + b"x" * 100 + b"\n\ndata: y\n\n", max_event_bytes=50)

    assert [(len(event.data), event.is_capped) for event in events] == [(44, True), (1, False)]


def test_many_data_lines_are_limited_together() -> None:
    events = decode(b"data: xxxxxxxxx\n" * 20 + b"\n", max_event_bytes=50)

    assert events[0].is_capped
    assert len(events[0].data) <= 51


def test_a_long_comment_does_not_spoil_the_event_around_it() -> None:
    assert decode(b"data: x\n:" + b"c" * 100 + b"\n\n", max_event_bytes=50) == [
        ServerSentEvent("x")
    ]


@given(STREAM_BYTES, st.lists(st.integers(0, 500), max_size=12))
def test_the_events_do_not_depend_on_where_the_reads_were_cut(
    stream: bytes, places: list[int]
) -> None:
    assert decode(*cut(stream, places)) == decode(stream)


@given(STREAM_BYTES, st.lists(st.integers(0, 500), max_size=12), st.integers(1, 30))
def test_limits_do_not_depend_on_where_the_reads_were_cut(
    stream: bytes, places: list[int], limit: int
) -> None:
    whole = decode(stream, max_event_bytes=limit)

    assert decode(*cut(stream, places), max_event_bytes=limit) == whole


@given(st.binary(max_size=400), st.lists(st.integers(0, 500), max_size=12))
def test_arbitrary_bytes_are_read_without_an_error(stream: bytes, places: list[int]) -> None:
    assert decode(*cut(stream, places)) == decode(stream)
