from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from runner.judge.assembly import event_carries_progress
from runner.judge.event_stream import EventStreamDecoder
from runner.sessions.received_body import ReceivedBody
from runner.sessions.stream_progress import StreamProgress
from tests.runner.sessions import wire

PIECES = [wire.role(), wire.text("a"), wire.COMMENT, wire.usage(1, 1), wire.DONE]
PIECES += [piece.replace(b"\n", b"\r\n") for piece in PIECES]
PIECES += [b"data: {\ndata: }\n\n", b"event: ping\n\n", b"\n", b"data: broken\r\r"]


def forward(reads: Sequence[bytes]) -> float | None:
    """The plain way: every read from the beginning."""
    decoder, last = EventStreamDecoder(), None
    for number, data in enumerate(reads):
        if any(map(event_carries_progress, decoder.feed(data))):
            last = float(number)
    return last


@given(
    pieces=st.lists(st.sampled_from(PIECES), max_size=40),
    cuts=st.lists(st.integers(0, 8_000), max_size=60),
    looks=st.sets(st.integers(0, 60), max_size=4),
)
@settings(max_examples=200, deadline=None)
def test_looking_from_the_end_finds_what_reading_from_the_beginning_finds(
    pieces: list[bytes], cuts: list[int], looks: set[int]
) -> None:
    stream = b"".join(pieces)
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    reads = [stream[start:end] for start, end in pairwise(edges)]
    body = ReceivedBody(max_bytes=10**6)
    progress = StreamProgress(body)

    for number, data in enumerate(reads):
        body.extend([data], [float(number)])
        if number in looks:
            assert progress.last_s() == forward(reads[: number + 1])

    assert progress.last_s() == forward(reads)


def test_before_the_first_read_there_is_no_progress() -> None:
    assert StreamProgress(ReceivedBody(max_bytes=10)).last_s() is None


def test_a_look_at_a_long_stream_reads_its_end_only() -> None:
    class CountingBody(ReceivedBody):
        handed_out = 0

        def between(self, start: int, end: int) -> bytes:
            self.handed_out += end - start
            return super().between(start, end)

    body = CountingBody(max_bytes=10**7)
    for number in range(10_000):
        body.extend([wire.text("word")], [float(number)])

    assert StreamProgress(body).last_s() == 9_999
    assert body.handed_out < 10 * len(wire.text("word"))
