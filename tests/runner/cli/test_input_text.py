"""How files that commands are given are read."""

from pathlib import Path

import pytest

from runner.cli.input_text import read_input
from runner.errors import UsageError


def test_a_file_of_the_largest_size_is_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_text("wall=4s", "utf-8")

    assert read_input(file, most_bytes=7) == "wall=4s"


def test_what_is_longer_than_can_be_read_is_refused_in_a_sentence() -> None:
    with pytest.raises(UsageError, match="/dev/zero holds more than 1,000 bytes"):
        read_input(Path("/dev/zero"), most_bytes=1_000)
