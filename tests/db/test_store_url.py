from pathlib import Path

import pytest

from db.errors import StoreUrlError
from db.store_url import DEFAULT_STORE_URL, parse_store_url


def test_the_default_store_lies_in_the_working_directory() -> None:
    url = parse_store_url(DEFAULT_STORE_URL)

    assert url.path == Path.cwd() / "decisive.db"


def test_an_absolute_path_has_four_slashes() -> None:
    assert parse_store_url("sqlite:////data/runs.db").path == Path("/data/runs.db")


def test_a_server_has_no_path_and_its_password_is_never_shown() -> None:
    url = parse_store_url("postgresql://ada:secret@host/decisive")

    assert url.path is None
    assert "secret" not in url.where
    assert "ada" in url.where


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("decisive.db", "not the address of a store"),
        ("", "not the address of a store"),
        ("mysql://ada:secret@host/x", "cannot live in 'mysql'"),
        ("sqlite://", "names no file"),
        ("sqlite:///:memory:", "names no file"),
        ("sqlite:///runs.db?mode=ro", "parts that a SQLite store does not take"),
        ("sqlite://host/runs.db", "parts that a SQLite store does not take"),
        ("postgresql://host:port/x", "not the address of a store"),
    ],
)
def test_what_is_no_address_is_refused_with_the_right_forms(text: str, reason: str) -> None:
    with pytest.raises(StoreUrlError, match=reason) as refused:
        parse_store_url(text)

    assert "write sqlite:///decisive.db" in str(refused.value)
    assert "secret" not in str(refused.value)
