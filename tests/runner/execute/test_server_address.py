import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import UsageError
from runner.execute.server_address import base_url_of

CANARY = "hunter2-canary"


@pytest.mark.parametrize(
    ("written", "base_url"),
    [
        ("http://127.0.0.1:30000", "http://127.0.0.1:30000"),
        ("HTTP://GPU-7:30000/", "http://gpu-7:30000"),
        ("https://api.example.com/v1", "https://api.example.com"),
        ("https://api.example.com/openai/v1/", "https://api.example.com/openai"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_an_address_is_taken_as_it_is_meant(written: str, base_url: str) -> None:
    assert base_url_of(written) == base_url


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("localhost:30000", "no address of a server: write http://HOST:PORT"),
        ("ftp://host", "no address of a server"),
        ("http://", "no address of a server"),
        ("http://host:99999", "Port out of range 0-65535"),
        ("http://host:port", "no address of a server"),
        ("http://host/v1?key=1", "query or a fragment"),
        ("http://host#x", "query or a fragment"),
        ("http://ho st", "no address of a server"),
        ("http://host\x1b[31m", "no address of a server"),
        ("http://[::1", "no address of a server"),
    ],
)
def test_what_is_no_address_is_refused_with_a_reason(written: str, said: str) -> None:
    with pytest.raises(UsageError, match=said.replace("[", r"\[")):
        base_url_of(written)


@pytest.mark.parametrize(
    "written",
    [
        f"http://user:{CANARY}@host:30000",
        f"http://{CANARY}@host",
        f"user:{CANARY}@host:30000",
        f"http://user:{CANARY}@host:99999",
        f"ftp://user:{CANARY}@host",
    ],
)
def test_a_password_in_an_address_is_refused_and_never_repeated(written: str) -> None:
    with pytest.raises(UsageError) as refused:
        base_url_of(written)

    assert CANARY not in str(refused.value)


@given(st.text(max_size=40))
def test_whatever_is_written_is_taken_or_refused(written: str) -> None:
    try:
        base_url = base_url_of(written)
    except UsageError:
        return
    assert base_url_of(base_url) == base_url
