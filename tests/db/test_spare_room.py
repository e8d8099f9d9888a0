from pathlib import Path

from db.spare_room import SPARE_BYTES, spare_room


def _nameless_bytes(folder: Path) -> int:
    """Of the files that this process holds open in the folder, and that no listing shows."""
    size = 0
    for opened in Path("/proc/self/fd").iterdir():
        try:
            is_in_it = opened.readlink().is_relative_to(folder)
            size += opened.stat().st_size if is_in_it else 0
        except OSError:  # the one that lists
            continue
    return size


def test_spare_room_has_no_name_and_is_there_until_it_is_given_up(tmp_path: Path) -> None:
    with spare_room(tmp_path) as room:
        assert list(tmp_path.iterdir()) == []
        assert _nameless_bytes(tmp_path) == SPARE_BYTES

        room.close()

        assert _nameless_bytes(tmp_path) == 0


def test_where_nothing_can_be_written_nothing_is_taken(tmp_path: Path) -> None:
    with spare_room(tmp_path / "nowhere"):
        assert list(tmp_path.iterdir()) == []
