"""The journal of a unit is read by its cursor: nothing is lost, and nothing read twice."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.observe.journal_follower import JournalFollower
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
