import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.report.visible_text import one_line, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain · text − 5 %", "plain · text − 5 %"),
        ("a\x00b", "a\\u0000b"),
        ("\x1b[31mred", "\\u001b[31mred"),
        ("safe\u202egnp.exe", "safe\\u202egnp.exe"),
        ("\ud83d", "\\ud83d"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("\U000e0041", "\\U000e0041"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("tab\tstays", "tab\tstays"),
    ],
)
def test_what_cannot_be_seen_is_named(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(st.characters()))
def test_every_text_can_be_written_and_shown_twice(text: str) -> None:
    shown = visible(text)

    assert visible(shown) == shown
    shown.encode()


@given(st.text(st.characters()))
def test_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
