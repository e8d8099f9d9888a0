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
    assert re.search(ACTIVE, plain(text)) is None


@given(st.text())
def test_any_text_is_one_line_without_active_characters(text: str) -> None:
    shown = plain(text)

    assert "\n" not in shown
    assert "\r" not in shown
    assert re.search(ACTIVE, shown.replace("\\\\", "")) is None


def test_a_long_text_is_cut_with_an_ellipsis() -> None:
    assert plain("x" * 50, limit=10) == "xxxxxxxxx…"


def test_direction_characters_are_made_visible() -> None:
    assert plain("a\u202eb") == "a⟨U\\+202E⟩b"


def test_a_badge_escapes_its_label() -> None:
    assert badge("a]b", colour="gray", icon=":material/check:") == (
        ":gray-badge[:material/check: a\\]b]"
    )
