"""The journal of a unit is read by its cursor: nothing is lost, and nothing read twice."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.observe.journal_follower import JournalFollower, LastCursor
from tests.fakes import journalctl

PATIENCE_S = 60.0


@pytest.fixture
def follower(tmp_path: Path) -> Iterator[JournalFollower]:
    words = [sys.executable, journalctl.__file__, str(tmp_path)]
    made = JournalFollower("a.service", journalctl=words, ssh=["sh", "-c"], restart_s=0.0)
    yield made
    made.close()


def written(folder: Path, *messages: str) -> None:
    path = folder / "a.service.journal"
    with path.open("a", encoding="utf-8") as journal:
        for message in messages:
            entry = {
                "__CURSOR": f"s=1;i={journal.tell()}",
                "__REALTIME_TIMESTAMP": str(time.time_ns() // 1000),
                "MESSAGE": message,
            }
            journal.write(json.dumps(entry) + "\n")


def read(follower: JournalFollower, count: int) -> list[str]:
    """The next `count` messages."""
    said = b""
    ends_s = time.monotonic() + PATIENCE_S
    while said.count(b"\n") < count:
        assert time.monotonic() < ends_s, said
        said += follower.read_new()
    return [json.loads(line)["MESSAGE"] for line in said.splitlines()]


def test_what_was_there_before_is_not_read(follower: JournalFollower, tmp_path: Path) -> None:
    written(tmp_path, "before")
    follower.seek_end()
    written(tmp_path, "after")

    assert read(follower, 1) == ["after"]


def test_a_follower_whose_connection_breaks_goes_on_after_the_last_entry(
    follower: JournalFollower, tmp_path: Path
) -> None:
    written(tmp_path, "before")
    follower.seek_end()
    written(tmp_path, "one", "two")
    first = read(follower, 2)
    follower._end()  # as a connection that is lost ends the command
    written(tmp_path, "three")

    assert (first, read(follower, 1)) == (["one", "two"], ["three"])


def entry(number: int, *, is_cursor_first: bool, message: str = "x") -> bytes:
    fields = [("__CURSOR", f"s=1;i={number}"), ("MESSAGE", message)]
    return json.dumps(dict(fields if is_cursor_first else fields[::-1])).encode() + b"\n"


@given(orders=st.lists(st.booleans(), min_size=1, max_size=6), size=st.integers(1, 80))
def test_the_cursor_is_that_of_the_last_whole_entry_however_the_journal_is_cut(
    orders: list[bool], size: int
) -> None:
    said = b"".join(entry(n, is_cursor_first=first) for n, first in enumerate(orders))
    last, seen = LastCursor(), 0

    for start in range(0, len(said), size):
        last.feed(said[start : start + size])
        seen = said[: start + size].count(b"\n")
        assert last.cursor == (f"s=1;i={seen - 1}" if seen else None)

    assert seen == len(orders)


@pytest.mark.parametrize("is_cursor_first", [True, False])
def test_an_entry_without_end_takes_no_memory_and_keeps_its_cursor(is_cursor_first: bool) -> None:
    last = LastCursor()
    said = entry(7, is_cursor_first=is_cursor_first, message="y" * 3_000_000)

    for start in range(0, len(said), 65_536):
        last.feed(said[start : start + 65_536])
        assert last.held_bytes <= 4096

    assert last.cursor == "s=1;i=7"
