from pathlib import Path

from runner.observe.log_follower import FileFollower


def _append(path: Path, content: bytes) -> None:
    with path.open("ab") as log:
        log.write(content)


def test_only_whole_lines_are_handed_out(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    follower = FileFollower(path)
    _append(path, b"one\ntwo")

    first = follower.read_new()
    _append(path, b" and a half\n")
    second = follower.read_new()

    assert (first.lines, second.lines) == (("one",), ("two and a half",))
    assert first.content + second.content == path.read_bytes()


def test_the_last_look_takes_the_unfinished_line_too(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    _append(path, b"Aborted by AbortReq.")
    follower = FileFollower(path)

    assert follower.read_new().lines == ()
    assert follower.read_new(is_last=True).lines == ("Aborted by AbortReq.",)


def test_a_log_that_does_not_exist_yet_is_empty(tmp_path: Path) -> None:
    assert FileFollower(tmp_path / "absent").read_new().lines == ()


def test_a_truncated_log_is_read_from_its_new_start(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    _append(path, b"a long first line\n")
    follower = FileFollower(path)
    follower.read_new()
    path.write_bytes(b"new\n")

    assert follower.read_new().lines == ("new",)


def test_what_stood_before_can_be_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    _append(path, b"yesterday\n")
    follower = FileFollower(path, from_end=True)
    _append(path, b"today\n")

    assert follower.read_new().lines == ("today",)


def test_bytes_that_are_no_text_lose_no_line(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    _append(path, b"\xe4\xb8 cut\nnext\n")

    assert FileFollower(path).read_new().lines == ("\ufffd cut", "next")
