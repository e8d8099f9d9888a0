"""The end of a stream is seen where the format has it, however the bytes were cut into reads."""

import re

from hypothesis import given
from hypothesis import strategies as st

from runner.sessions.received_body import ReceivedBody

# The event-stream format: a line `data:`, at most one space, and the value, which stands alone.
DONE_LINE = re.compile(rb"(?:\A|[\r\n])data: ?\[DONE\]")
PIECES = [b"data:", b" ", b"[DONE]", b"\n", b"\r", b"x", b"data: [DO", b"NE]", b'{"content":"']


@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_the_end_is_seen_as_soon_as_its_line_stands_in_what_has_come(reads: list[bytes]) -> None:
    body = ReceivedBody(max_bytes=1_000)
    so_far = b""

    for at_s, data in enumerate(reads):
        body.extend([data], [at_s])
        so_far += data
        assert body.saw_done == (DONE_LINE.search(so_far) is not None)


def test_a_word_in_a_text_before_it_does_not_hide_the_end() -> None:
    body = ReceivedBody(max_bytes=1_000)

    body.extend([b'data: {"content": "data: [DONE]"}\n\n'], [0.1])
    assert not body.saw_done
    body.extend([b"data: [DONE]\n\n"], [0.2])

    assert body.saw_done
