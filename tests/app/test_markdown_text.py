"""Foreign text stays text inside Markdown."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.markdown_text import badge, plain

ACTIVE = r"(?<!\\)[`*_\[\]<>#$~|:]"


@pytest.mark.parametrize(
    "text",
    [
        "**bold**",
        "[link](http://example.org)",
        "<script>alert(1)</script>",
        ":material/check:",
        ":red[red]",
        "$x$",
        "# head",
        "![image](x)",
        "`code`",
    ],
)
def test_nothing_that_markdown_acts_on_stays_bare(text: str) -> None:
    assert re.search(ACTIVE, _outside_code(plain(text))) is None


@given(st.text())
def test_any_text_is_one_line_without_active_characters(text: str) -> None:
    shown = plain(text)

    assert "\n" not in shown
    assert "\r" not in shown
    assert re.search(ACTIVE, _outside_code(shown).replace("\\\\", "")) is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see http://a.example/x_y?b=*1* now", "see `http://a.example/x_y?b=*1*` now"),
        ("HTTPS://A.example:8000", "`HTTPS://A.example:8000`"),
        ('{"url":"http://a.example"}', r"\{\"url\"\:\"`http://a.example`\"\}"),
        ("at www.a.example", "at `www.a.example`"),
        ("mail a.b@c.example", "mail `a.b@c.example`"),
        ("http://a`http://b", r"`http://a`\``http://b`"),
        ("[x](http://a.example)", r"\[x\]\(`http://a.example)`"),
        ("worker-1@host", r"worker\-1\@host"),
    ],
)
def test_an_address_is_code_so_that_it_never_becomes_a_link(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_a_percentage_never_breaks_before_its_sign() -> None:
    assert plain("at most 2.1\N{THIN SPACE}%") == "at most 2\\.1\N{NARROW NO-BREAK SPACE}%"


def test_a_long_text_is_cut_with_an_ellipsis() -> None:
    assert plain("x" * 50, limit=10) == "xxxxxxxxx…"


def test_direction_characters_are_made_visible() -> None:
    assert plain("a\u202eb") == "a⟨U\\+202E⟩b"


def test_a_badge_escapes_its_label() -> None:
    assert badge("a]b", colour="gray", icon=":material/check:") == (
        ":gray-badge[:material/check: a\\]b]"
    )


def _outside_code(shown: str) -> str:
    return re.sub(r"(?<!\\)`[^`]*`", "", shown)
