"""Carets stand under what they mean, whatever characters a model sends."""

from hypothesis import given
from hypothesis import strategies as st

from app.leak_marking import Span, display_width, mark

BAR = "\uff5c"
BEFORE = "\N{NO-BREAK SPACE} "


def test_lines_from_the_leak_on_are_marked_and_those_before_are_not() -> None:
    text = "I will look.\nmore\n<tool>\nafter"

    marked = mark(text, [Span(18, 24, "markup")])

    assert marked.text.split("\n") == [
        f"{BEFORE}I will look.",
        f"{BEFORE}more",
        "! <tool>",
        "! ^^^^^^ offset 18: markup",
        "! after",
    ]


def test_a_text_without_spans_has_no_mark() -> None:
    assert mark("one\ntwo", []).text == f"{BEFORE}one\n{BEFORE}two"


def test_the_bar_of_dsml_is_one_cell_wide() -> None:
    marked = mark(f"<{BAR}DSML{BAR}x>", [Span(0, 8, "markup")])

    assert marked.text.split("\n")[1] == "! ^^^^^^^^ offset 0: markup"


def test_carets_are_pushed_by_wide_characters() -> None:
    marked = mark("中文 bad", [Span(3, 6, "no")])

    assert marked.text.split("\n")[1] == "!      ^^^ offset 3: no"


def test_a_span_over_several_lines_says_where_it_ends() -> None:
    marked = mark("<a>\n<b>", [Span(0, 7, "markup")])

    assert marked.text.split("\n")[1] == "! ^^^ offsets 0 to 7: markup"


def test_control_and_direction_characters_become_visible() -> None:
    marked = mark("a\x00b\u202ec\td", [])

    assert marked.text == f"{BEFORE}a␀b⟨U+202E⟩c→d"


def test_an_empty_span_still_gets_a_caret() -> None:
    assert "^ offset 1: here" in mark("abc", [Span(1, 1, "here")]).text


def test_a_long_text_is_cut_around_the_leak() -> None:
    text = "x" * 5_000 + "LEAK" + "y" * 5_000

    marked = mark(text, [Span(5_000, 5_004, "markup")], limit=1_000)

    assert "LEAK" in marked.text
    assert marked.cut_before + marked.cut_after == len(text) - 1_000


def test_a_note_cannot_bring_a_line_of_its_own() -> None:
    marked = mark("abc", [Span(0, 1, "bad\n- forged")])

    assert len(marked.text.split("\n")) == 2


@given(
    st.text(max_size=200),
    st.lists(st.tuples(st.integers(-5, 250), st.integers(-5, 250)), max_size=5),
)
def test_no_text_and_no_span_breaks_the_marking(text: str, spans: list[tuple[int, int]]) -> None:
    marked = mark(text, [Span(start, end, "note") for start, end in spans])

    assert all(line[:2] in (BEFORE, "! ") for line in marked.text.split("\n"))
    assert not any(character in marked.text for character in "\x00\r\u202e")


@given(st.text(alphabet="abc中é", min_size=1, max_size=30), st.data())
def test_the_first_caret_stands_under_the_first_character(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))

    line = mark(text, [Span(start, start + 1, "note")]).text.split("\n")[1]

    assert line.index("^") - 2 == sum(map(display_width, text[:start]))
