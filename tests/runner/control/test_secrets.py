"""Secrets are taken out of whatever is recorded, shown or told."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.control.secrets import HidingStream, Secrets, secret_named
from runner.errors import UsageError

KEY = "sk-abcabd"
SECRETS = Secrets([KEY])


def test_a_secret_is_replaced_by_as_many_asterisks() -> None:
    assert SECRETS.hidden(b"Bearer sk-abcabd, sk-abc") == b"Bearer *********, sk-abc"


def test_a_secret_is_found_in_urls_too() -> None:
    assert Secrets(["a/b c+d"]).hidden_text("?key=a%2Fb%20c%2Bd") == "?key=" + "*" * 13


def test_a_longer_secret_is_hidden_whole_where_a_shorter_one_begins_it() -> None:
    assert Secrets(["abcd", "abcdef"]).hidden_text("abcdef") == "******"


def test_all_texts_of_a_report_are_looked_through() -> None:
    report = {"a": [KEY, 1, None], f"x{KEY}": {"b": (f"{KEY}!",)}}

    assert SECRETS.hidden_in(report) == {
        "a": ["*********", 1, None],
        "x*********": {"b": ["*********!"]},
    }


def test_its_own_text_shows_nothing() -> None:
    assert KEY not in f"{SECRETS!r} {SECRETS}"


@given(
    before=st.binary(max_size=20),
    after=st.binary(max_size=20),
    cuts=st.lists(st.integers(0, 60), max_size=8),
)
def test_a_secret_is_hidden_wherever_a_stream_is_cut(
    before: bytes, after: bytes, cuts: list[int]
) -> None:
    content = before + KEY.encode() + after + KEY.encode()
    stream = HidingStream(SECRETS)
    ends = sorted({min(cut, len(content)) for cut in cuts} | {0, len(content)})

    told = b"".join(stream.feed(content[start:end]) for start, end in pairwise(ends))

    assert told + stream.rest() == SECRETS.hidden(content)


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "has no KEY"), ("  \n", "has no KEY"), ("a\nb", "look for line ends"), ("clé", "line")],
)
def test_a_variable_that_holds_no_usable_key_is_named_without_its_value(
    value: str | None, said: str
) -> None:
    environment = {} if value is None else {"KEY": value}

    with pytest.raises(UsageError, match=said) as raised:
        secret_named("KEY", environment, what="the API key")

    assert value is None or value.strip() == "" or value not in str(raised.value)


def test_blanks_and_line_ends_around_a_key_are_not_part_of_it() -> None:
    assert secret_named("KEY", {"KEY": " abc\n"}, what="the API key") == "abc"
