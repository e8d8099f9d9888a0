import os
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from runner.observe.log_follower import CommandFollower, FileFollower
from runner.observe.service_log import TAIL_BYTES, ServiceLog
from runner.observe.wedge_signs import WedgeCounts, WedgeSigns
from tests.runner.observe.catalogue import CATALOGUE
from tests.runner.observe.test_log_reading import WAITING

ABORTED = (
    "[2026-08-22 09:15:02 TP0] Prefill bootstrap failed for request rank=0 req.rid='{rid}' "
    "req.bootstrap_room={room} with exception KVTransferError(bootstrap_room={room}): "
    "Aborted by AbortReq."
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "server.log"


@pytest.fixture
def follower(path: Path) -> Iterator[FileFollower]:
    with closing(FileFollower(path)) as opened:
        yield opened


@pytest.fixture
def log(follower: FileFollower) -> ServiceLog:
    return ServiceLog(follower, CATALOGUE, year=2026)


def _append(path: Path, content: bytes) -> None:
    with path.open("ab") as log:
        log.write(content)


def test_what_was_appended_is_read_once(path: Path, follower: FileFollower) -> None:
    _append(path, b"one\ntwo")

    first = follower.read_new()
    _append(path, b" and a half\n")

    assert (first, follower.read_new(), follower.read_new()) == (b"one\ntwo", b" and a half\n", b"")


def test_a_log_that_does_not_exist_yet_is_empty_and_read_once_it_does(
    path: Path, follower: FileFollower
) -> None:
    assert follower.read_new() == b""
    _append(path, b"here\n")
    assert follower.read_new() == b"here\n"


def test_a_truncated_log_is_read_from_its_new_start(path: Path, follower: FileFollower) -> None:
    _append(path, b"a long first line\n")
    follower.read_new()
    path.write_bytes(b"new\n")

    assert follower.read_new() == b"new\n"


def test_a_log_that_was_rotated_is_read_to_its_end_before_the_new_one(
    path: Path, follower: FileFollower
) -> None:
    _append(path, b"one\n")
    follower.read_new()
    _append(path, b"two\n")
    path.rename(path.with_suffix(".1"))
    path.write_bytes(b"three\n")

    assert [follower.read_new(), follower.read_new()] == [b"two\n", b"three\n"]


def test_a_log_that_was_rotated_twice_between_two_looks_is_read_in_turn(
    path: Path, follower: FileFollower
) -> None:
    _append(path, b"one\n")
    follower.read_new()
    path.rename(path.with_name("server.log.1"))
    path.write_bytes(b"two\n")
    path.with_name("server.log.1").rename(path.with_name("server.log.2"))
    path.rename(path.with_name("server.log.1"))
    path.write_bytes(b"three\n")

    assert [follower.read_new() for _ in range(3)] == [b"two\n", b"three\n", b""]


def test_a_renamed_log_is_read_on_until_something_stands_in_its_successor(
    path: Path, follower: FileFollower
) -> None:
    _append(path, b"one\n")
    follower.read_new()
    path.rename(path.with_suffix(".1"))
    path.touch()
    before = follower.read_new()
    _append(path.with_suffix(".1"), b"written before the server was told\n")

    late = follower.read_new()
    _append(path, b"two\n")

    assert (before, late) == (b"", b"written before the server was told\n")
    assert follower.read_new() == b"two\n"


def test_a_log_that_was_truncated_and_has_grown_again_is_read_from_its_start(
    path: Path, follower: FileFollower
) -> None:
    _append(path, b"of yesterday\n")
    follower.read_new()
    path.write_bytes(b"of today, and longer than what stood there before\n")

    assert follower.read_new() == b"of today, and longer than what stood there before\n"


def test_a_log_that_is_cut_in_the_middle_of_a_line_does_not_swallow_its_new_first_one(
    path: Path, log: ServiceLog
) -> None:
    _append(path, b"[2026-08-22 09:15:01 TP0] Scheduler watchdog time")
    log.look()
    path.write_bytes(ABORTED.format(rid="b7", room=1).encode() + b"\n")
    log.look()

    assert [event.request_ref for event in log.look().events] == ["b7"]


@pytest.mark.parametrize("is_renamed", [True, False], ids=["renamed", "deleted"])
def test_a_log_that_ends_in_the_middle_of_a_line_is_told_from_its_successor(
    is_renamed: bool, path: Path, follower: FileFollower
) -> None:
    _append(path, b"one\nhalf")
    assert follower.read_new() == b"one\nhalf"
    if is_renamed:
        path.rename(f"{path}.1")
    else:
        path.unlink()
    _append(path, b"two\n")

    assert (follower.read_new(), follower.read_new()) == (b"\ntwo\n", b"")


def test_a_look_takes_no_more_than_its_limit_and_says_what_is_left(
    path: Path, follower: FileFollower
) -> None:
    _append(path, b"0123456789")

    first = follower.read_new(4)

    assert (first, follower.behind_bytes()) == (b"0123", 6)
    assert (follower.read_new(), follower.behind_bytes()) == (b"456789", 0)


def test_what_cannot_be_followed_says_why_and_holds_nobody_up(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for target, why in (
        (pipe, "is no regular file"),
        (tmp_path, "is no regular file"),
        (Path("/dev/zero"), "is no regular file"),
        (tmp_path / "absent.log", "No such file or directory"),
    ):
        with closing(FileFollower(target)) as follower:
            assert follower.read_new() == b""
            assert why in str(follower.trouble)


def test_a_log_that_comes_back_is_no_trouble_any_more(path: Path, follower: FileFollower) -> None:
    follower.read_new()
    was_told = follower.trouble
    _append(path, b"here\n")

    assert (follower.read_new(), follower.trouble) == (b"here\n", None)
    assert was_told is not None


def test_what_stood_before_can_be_passed_over(path: Path) -> None:
    _append(path, b"yesterday\n")
    with closing(FileFollower(path, from_end=True)) as follower:
        _append(path, b"today\n")

        assert follower.read_new() == b"today\n"


def test_a_record_is_held_until_nothing_more_comes(path: Path, log: ServiceLog) -> None:
    _append(path, (WAITING.format(rank=0, rid="a", room=1) + "\n").encode())

    first, second = log.look(), log.look()

    assert (len(first.events), len(second.events)) == (0, 1)


def test_the_last_look_takes_an_unfinished_line_too(path: Path, log: ServiceLog) -> None:
    _append(path, WAITING.format(rank=0, rid="a", room=1).encode())

    assert [event.id for event in log.look(is_last=True).events] == ["kv_wait_timeout"]


def test_only_the_tail_of_a_long_log_is_kept(path: Path, log: ServiceLog) -> None:
    for number in range(20):
        _append(path, b"%d" % number * 30_000 + b"\n")
        log.look()

    assert len(log.tail()) == TAIL_BYTES
    assert log.tail().endswith(b"19\n")


def test_every_rank_prints_its_line_but_it_is_one_request(path: Path, log: ServiceLog) -> None:
    lines = [WAITING.format(rank=rank, rid="abc", room=7) for rank in range(8)]
    _append(path, "\n".join(lines).encode())
    signs = WedgeSigns()
    signs.add(log.look(is_last=True).events)

    assert signs.counts(own_cancellations=()) == WedgeCounts(lines=8, requests=1)


def test_an_abort_that_we_caused_is_a_line_but_no_wedged_request(
    path: Path, log: ServiceLog
) -> None:
    _append(
        path,
        "\n".join(
            ABORTED.format(rid=rid, room=room) for rid, room in (("ours", 1), ("theirs", 2))
        ).encode(),
    )
    signs = WedgeSigns()
    signs.add(log.look(is_last=True).events)

    assert signs.counts(own_cancellations={"ours"}) == WedgeCounts(lines=2, requests=1)


def test_a_last_look_is_not_the_end_of_reading_and_nothing_is_read_twice(
    path: Path, log: ServiceLog
) -> None:
    _append(path, (WAITING.format(rank=0, rid="a", room=1) + "\n").encode())
    first = log.look(is_last=True)
    _append(path, (WAITING.format(rank=0, rid="b", room=2) + "\n").encode())

    second, third = log.look(is_last=True), log.look(is_last=True)

    assert [len(each.events) for each in (first, second, third)] == [1, 1, 0]


def test_a_follower_that_was_closed_reads_nothing_more(path: Path, follower: FileFollower) -> None:
    _append(path, b"one\n")
    follower.close()

    assert follower.read_new() == b""


def _said(follower: CommandFollower, *, until: bytes) -> bytes:
    """What it says, read until `until` has come; a command needs its time to start."""
    said, deadline = b"", time.monotonic() + 120
    while until not in said and time.monotonic() < deadline:
        said += follower.read_new()
        time.sleep(0.02)
    return said


def test_a_command_is_read_while_it_goes_on() -> None:
    with closing(CommandFollower(["sh", "-c", "echo one; echo two >&2; sleep 60"])) as follower:
        assert _said(follower, until=b"two\n") == b"one\ntwo\n"
        assert follower.read_new() == b""


def test_a_command_that_ends_is_started_again_from_where_it_was_heard_last() -> None:
    follower = CommandFollower(
        ["echo", "{since}", "{since_unix}"], utc_s=lambda: 1775757612.5, restart_s=-1
    )
    with closing(follower):
        said = _said(follower, until=b"\n2026")

    assert said.startswith(b"2026-04-09T18:00:12Z 1775757612\n")


def test_a_clock_that_is_set_back_keeps_no_command_from_being_started_again() -> None:
    since_boot_s = 100.0
    clocks = iter([7200.0, 7200.0])
    follower = CommandFollower(
        ["echo", "again"],
        utc_s=lambda: next(clocks, 0.0),
        monotonic_s=lambda: since_boot_s,
    )
    with closing(follower):
        _said(follower, until=b"again\n")
        since_boot_s += 2.0
        assert _said(follower, until=b"again\n")


def test_a_line_that_broke_off_does_not_swallow_the_first_one_of_the_next_start() -> None:
    follower = CommandFollower(["printf", "whole\nbroken"], restart_s=-1)
    with closing(follower):
        said = _said(follower, until=b"broken\nwhole")

    assert said.startswith(b"whole\nbroken\nwhole\nbroken")


def test_a_command_that_does_not_exist_brings_nothing_and_says_why() -> None:
    with closing(CommandFollower(["no-such-command-here"])) as follower:
        assert follower.read_new() == b""
        assert follower.trouble == "cannot start no-such-command-here: No such file or directory"


def test_a_command_that_prints_for_ever_is_read_a_piece_at_a_time() -> None:
    with closing(CommandFollower(["sh", "-c", "while :; do echo again; done"])) as follower:
        _said(follower, until=b"again\n")

        assert len(follower.read_new(4096)) <= 4096


def test_a_log_that_was_replaced_by_something_else_says_so_and_is_read_when_it_is_back(
    path: Path, follower: FileFollower
) -> None:
    path.write_bytes(b"before\n")
    assert follower.read_new() == b"before\n"
    path.rename(path.with_name("old"))
    path.mkdir()
    (path / "entry").touch()

    assert follower.read_new() == b""
    assert follower.trouble == f"{path} is no regular file"

    (path / "entry").unlink()
    path.rmdir()
    path.write_bytes(b"after\n")
    assert follower.read_new() == b"after\n"
    assert follower.trouble is None


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="Linux alone has such a file")
def test_a_file_whose_reading_fails_is_told_and_ends_nothing() -> None:
    follower = FileFollower(Path("/proc/self/mem"))

    assert follower.read_new() == b""
    assert follower.trouble == "cannot read /proc/self/mem: Input/output error"
    assert follower.behind_bytes() == 0
