"""A file is there whole or not at all, and another is replaced only when that was asked for."""

import os
from pathlib import Path

import pytest

from runner.cli.output_files import append_text, refuse_to_replace, write_file, write_folder
from runner.errors import UsageError


def test_a_file_appears_once_all_is_written(tmp_path: Path) -> None:
    path = tmp_path / "report.md"

    with write_file(path, force=False) as file:
        file.write(b"half")
        assert not path.exists()
        file.write(b" and whole")

    assert path.read_bytes() == b"half and whole"
    assert [each.name for each in tmp_path.iterdir()] == ["report.md"]


def test_what_fails_half_way_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "report.md"

    with pytest.raises(ZeroDivisionError), write_file(path, force=False) as file:
        file.write(b"half")
        raise ZeroDivisionError

    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_replaced_only_when_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "report.md"
    path.write_text("mine", "utf-8")

    with pytest.raises(UsageError, match="exists already: --force replaces it"):
        refuse_to_replace(path, force=False)
    assert path.read_text("utf-8") == "mine"

    with write_file(path, force=True) as file:
        file.write(b"new")
    assert path.read_text("utf-8") == "new"


def test_a_file_that_came_to_be_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "report.md"

    with (
        pytest.raises(UsageError, match="has come to be meanwhile"),
        write_file(path, force=False) as file,
    ):
        file.write(b"new")
        path.write_text("of somebody else", "utf-8")

    assert path.read_text("utf-8") == "of somebody else"


def test_a_pipe_is_written_to_straight(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)

    with write_file(path, force=False) as file:
        file.write(b"through")

    assert os.read(reader, 100) == b"through"
    os.close(reader)


def test_a_folder_that_is_missing_is_named_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "none" / "report.md"

    said = r"cannot write .*report\.md: No such file or directory"
    with pytest.raises(UsageError, match=said), write_file(path, force=False):
        pass


def test_a_folder_of_tables_keeps_what_else_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "tables"
    path.mkdir()
    (path / "notes.txt").write_text("mine", "utf-8")
    with pytest.raises(UsageError, match="--force"), write_folder(path, force=False):
        pass

    with write_folder(path, force=True) as made:
        (made / "runs.csv").write_text("run\n", "utf-8")

    assert sorted(each.name for each in path.iterdir()) == ["notes.txt", "runs.csv"]


def test_text_is_added_to_what_other_steps_wrote(tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    append_text(path, "one\n")
    append_text(path, "two\n")

    assert path.read_text("utf-8") == "one\ntwo\n"
