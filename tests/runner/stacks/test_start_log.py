"""The end of a service's log, as it is told where the service does not start."""

from pathlib import Path

from runner.stacks.start_log import last_lines


def test_the_last_lines_come_without_their_colours(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(b"first\n\x1b[2m10:00\x1b[0m \x1b[31mERROR\x1b[0m no GPU\n\xffend")

    assert last_lines(log, 2) == ["10:00 ERROR no GPU", "\ufffdend"]


def test_a_huge_log_is_read_from_its_end_alone(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    with log.open("wb") as file:
        file.truncate(10**12)  # takes no room on the disk
        file.seek(0, 2)
        file.write(b"\nthe end\n")

    assert last_lines(log, 1) == ["the end"]
