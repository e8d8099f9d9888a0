"""Whatever stands in a log or a page, reading it ends, and costs what its size says."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runner.observe.log_records import LogNormalizer
from tests.runner.observe.catalogue import CATALOGUE, read
from tests.runner.observe.test_log_records import _LINES

WORDS = st.sampled_from(
    [text for entry in CATALOGUE.patterns for text in sorted(entry.literals)]
    + ["[2026-05-05 05:49:34 TP0] ", "Traceback (most recent call last):", "\n", "  ", "'", "rid='"]
)


@settings(max_examples=150)
@given(st.lists(WORDS, max_size=20).map("".join))
def test_the_words_of_alarms_in_any_order_are_read_without_an_error(log: str) -> None:
    assert read(log).verdict


@given(st.lists(_LINES, max_size=30))
def test_any_lines_are_read_into_a_verdict_and_counted(lines: list[bytes]) -> None:
    content = b"\n".join(lines)
    expected = content.count(b"\n") + (bool(content) and not content.endswith(b"\n"))

    assert read(content).lines == expected


def test_a_log_without_a_line_end_takes_bounded_memory() -> None:
    normalizer = LogNormalizer(year=2026)
    for _ in range(200):
        assert normalizer.feed(b"y" * 262_144) == []

    (record,) = normalizer.close()
    assert record.is_cut and len(record.text) <= 1024 * 1024


@pytest.mark.parametrize(
    "make",
    [
        lambda size: "Decode transfer failed for request " + "req.rid='a' " * (size // 12),
        lambda size: "[2026-05-05 05:49:34] " + "a: " * (size // 3),
        lambda size: "\x1b[" * (size // 2),
        lambda size: "x\r" * (size // 2),
        lambda size: "a-1 | " * (size // 6),
        lambda size: "Traceback (most recent call last):\n" + "  File\n" * (size // 7),
        lambda size: '{"MESSAGE": [' + "104," * (size // 4) + "104]}",
        lambda size: "iter = 1 num_scheduled_requests: 1 " * (size // 35),
    ],
    ids=["ids", "tags", "escapes", "returns", "prefixes", "frames", "bytes", "iterations"],
)
def test_a_text_of_a_mebibyte_is_read_in_the_time_of_a_test(make: Callable[[int], str]) -> None:
    """Each of these takes minutes where a pattern tries again from every place of a line."""
    assert read(make(1_000_000)).verdict
