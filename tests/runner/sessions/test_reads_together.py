"""Reads that are parsed together give what a parser makes of each, however they were cut."""

from itertools import pairwise

import httptools
from hypothesis import example, given, settings
from hypothesis import strategies as st

from runner.sessions.http_answer import HttpAnswer
from tests.runner.sessions.transport_client import OK

HEAD = OK + b"transfer-encoding: chunked\r\n\r\n"
EVENT = b"data: word\n\n"
HELD = st.one_of(
    st.just(EVENT),
    st.sampled_from([b"5", b"\r\n", b"a\r\n", EVENT + b"\r\n", b"\n\n", b"0\r\n\r\n", b"5\r\n"]),
    st.binary(min_size=1, max_size=40),
    st.sampled_from([15, 16, 230, 255, 256, 4_095, 4_096, 5_000]).map(lambda size: b"x" * size),
)
SIZES = ("%x", "%X", "0%x", "%x;a=b", "%x ")


class AsParsed:
    """What httptools says of an answer whose reads it is given one by one."""

    def __init__(self, reads: list[bytes]) -> None:
        self.pieces: list[bytes] = []
        self.places: list[int] = []
        self.is_whole = False
        self.has_failed = False
        parser, self._came = httptools.HttpResponseParser(self), b""
        for place, data in enumerate(reads):
            if self.is_whole or self.has_failed:
                break
            self._came = b""
            try:
                parser.feed_data(data)
            except httptools.HttpParserError:
                self.has_failed = True
            if self._came:
                self.pieces.append(self._came)
                self.places.append(place)

    def on_body(self, part: bytes) -> None:
        self._came += b"" if self.is_whole else part

    def on_message_complete(self) -> None:
        self.is_whole = True


@st.composite
def answers(draw: st.DrawFn) -> list[bytes]:
    """The reads of an answer that is mostly, and not always, cut where its chunks end."""
    parts = [HEAD]
    for held in draw(st.lists(HELD, max_size=12)):
        size = (draw(st.sampled_from(SIZES)) % len(held)).encode()
        parts.append(size + b"\r\n" + held + b"\r\n")
    parts += draw(st.sampled_from([[], [b"0\r\n\r\n"], [b"0\r\nx: y\r\n\r\n"], [b"zz\r\n"]]))
    whole = b"".join(parts)
    ends = [len(b"".join(parts[: count + 1])) for count in range(len(parts))]
    kept = [end for end in ends if draw(st.integers(0, 5))]
    cuts = draw(st.lists(st.integers(1, len(whole) - 1), max_size=3))
    edges = sorted({0, *kept, *cuts, len(whole)})
    return [whole[start:end] for start, end in pairwise(edges)]


def as_fed(reads: list[bytes], *, at_once: list[int]) -> tuple[HttpAnswer, list[bytes], list[int]]:
    """The answer, its pieces, and in which reads they came, where some reads are fed at a time."""
    answer, pieces, places = HttpAnswer("GET"), list[bytes](), list[int]()
    start = 0
    for count in [*at_once, *[1] * len(reads)]:
        batch = reads[start : start + count]
        if batch and not answer.is_complete and answer.failure is None:
            places += [start + place for place in answer.feed(batch)]
            pieces += answer.take()
        start += count
    return answer, pieces, places


@given(reads=answers(), at_once=st.lists(st.integers(1, 9), max_size=9))
@example(reads=[HEAD, b"c\r\n", EVENT, b"\r\n", b"c\r\n" + EVENT + b"\r\n"], at_once=[1, 4])
@example(  # a chunk that holds what looks like the end of one, and like another one
    reads=[HEAD, b"18\r\n" + EVENT + b"\r\n", b"5\r\nhello\r\n", b"\r\n0\r\n\r\n"],
    at_once=[1, 1, 2],
)
@settings(max_examples=1_000, deadline=None)
def test_reads_fed_together_are_what_a_parser_makes_of_each(
    reads: list[bytes], at_once: list[int]
) -> None:
    parsed = AsParsed(reads)

    answer, pieces, places = as_fed(reads, at_once=at_once)

    assert pieces == parsed.pieces
    assert places == parsed.places
    assert answer.is_complete is parsed.is_whole
    assert (answer.failure is not None) is parsed.has_failed
