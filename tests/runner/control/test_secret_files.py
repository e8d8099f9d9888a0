"""What a server wrote of a secret is overwritten where it stands."""

from pathlib import Path

import pytest

from runner.control.secret_files import hide_in_file
from runner.control.secrets import Secrets

KEY = b"sk-abcabd"
SECRETS = Secrets([KEY.decode(), "another-longer-secret"])


@pytest.mark.parametrize("before", [0, 1, 7, 4_194_299, 4_194_304 - 9, 4_194_304])
def test_a_secret_is_overwritten_wherever_it_stands(tmp_path: Path, before: int) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"x" * before + KEY + b" and " + KEY + b"\n")

    hide_in_file(path, SECRETS)

    assert path.read_bytes() == b"x" * before + b"*" * 9 + b" and " + b"*" * 9 + b"\n"


def test_what_is_written_meanwhile_by_an_appender_stays_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    with path.open("ab", buffering=0) as server:
        server.write(b"one " + KEY + b"\n")
        hide_in_file(path, SECRETS)
        server.write(b"two\n")

    assert path.read_bytes() == b"one *********\ntwo\n"


def test_a_file_without_secrets_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"nothing here")
    before_ns = path.stat().st_mtime_ns

    hide_in_file(path, SECRETS)

    assert path.stat().st_mtime_ns == before_ns
