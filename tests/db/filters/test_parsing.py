"""Filters as people write them: what is read, what is written back, what is refused and where."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from db.errors import FilterError
from db.filters.keys import LOG_KEYS, SESSION_KEYS, Key, NumberKey, WordKey
from db.filters.parsing import MAX_CHARACTERS, parse_filter
from db.filters.terms import TEXT, Bound, Comparison, Filter, Term


def _read(text: str) -> tuple[Term, ...]:
    return parse_filter(text, SESSION_KEYS).terms


def test_every_kind_of_term_is_read() -> None:
    found = _read('outcome:leak arm:bf16-hicache c:>=60 run:12 turn:>2 -flag:x "text"')

    assert found == (
        Term("outcome", ("leak",)),
        Term("arm", ("bf16-hicache",)),
        Term("c", (Bound(60, Comparison.AT_LEAST),)),
        Term("run", (Bound(12),)),
        Term("turn", (Bound(2, Comparison.ABOVE),)),
        Term("flag", ("x",), is_negated=True),
        Term(TEXT, ("text",)),
    )


def test_nothing_asks_for_nothing() -> None:
    assert _read("") == _read(" \t ") == ()


def test_several_values_of_a_term_are_alternatives() -> None:
    assert _read("outcome:leak,no_tool") == (Term("outcome", ("leak", "no_tool")),)


def test_an_exclamation_mark_excludes_as_a_hyphen_does() -> None:
    assert _read("!outcome:done") == _read("-outcome:done")


def test_an_id_may_bear_its_letter() -> None:
    assert _read("run:r-12") == _read("run:12")


def test_words_without_a_key_need_no_quotation_marks() -> None:
    assert _read("tool_calls") == _read('"tool_calls"') == (Term(TEXT, ("tool_calls",)),)


def test_quotation_marks_hold_spaces_colons_and_one_another() -> None:
    assert _read(r'"a: \"b\" c\\d"') == (Term(TEXT, ('a: "b" c\\d',)),)
    assert _read('arm:"bf16 · on"') == (Term("arm", ("bf16 · on",)),)


def test_the_same_term_twice_is_one() -> None:
    assert _read("c:80 c:80") == _read("c:80")


def test_keys_and_closed_words_are_read_in_any_case() -> None:
    assert _read("Outcome:LEAK") == _read("outcome:leak")


@pytest.mark.parametrize(
    ("text", "place", "told"),
    [
        ("outcome:leek", 8, "did you mean leak?"),
        ("c:80 outcom:leak", 5, "did you mean outcome:"),
        ("q:1", 0, "known are outcome"),
        ("http://x", 0, "quotation marks"),
        ('c:80 "open', 5, "not closed"),
        ("c:many", 2, "a number such as 80, >=60 or <2.5"),
        ("run:r-x", 4, "r-12 or 12"),
        ("arm:", 4, "needs a value"),
        ("outcome:leak,", 13, "takes leak"),
        ("c:80 - ", 5, "stands alone"),
        ('""', 2, "are empty"),
        ('"a"b', 3, "a space is missing"),
        ('arm:a"b"', 5, "a space is missing"),
        ("c:80\0", 4, "NUL"),
        ("x" * (MAX_CHARACTERS + 1), MAX_CHARACTERS, "longer than"),
    ],
)
def test_bad_input_gets_a_sentence_with_its_place(text: str, place: int, told: str) -> None:
    with pytest.raises(FilterError) as caught:
        _read(text)

    assert caught.value.place == place
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


NUMBERS = st.builds(
    Bound,
    st.integers(-(10**6), 10**6)
    | st.integers(-(10**6), 10**6).map(lambda thousandths: thousandths / 1000),
    st.sampled_from(Comparison),
)
WORDS = st.text(min_size=1, max_size=12).filter(lambda text: "\0" not in text)


def _terms_of(key: Key) -> st.SearchStrategy[Term]:
    values: st.SearchStrategy[str | Bound] = WORDS
    if isinstance(key, NumberKey):
        values = NUMBERS
    elif isinstance(key, WordKey):
        values = st.sampled_from(key.among)
    several = st.lists(values, min_size=1, max_size=3, unique=True).map(tuple)
    return st.builds(Term, st.just(key.name), several, st.booleans())


TERMS = st.one_of(
    *(_terms_of(key) for key in SESSION_KEYS.values()),
    st.builds(Term, st.just(TEXT), WORDS.map(lambda words: (words,)), st.booleans()),
)


@given(st.lists(TERMS, max_size=4, unique=True).map(lambda terms: Filter(tuple(terms))))
def test_what_is_written_back_reads_the_same(wanted: Filter) -> None:
    assert parse_filter(wanted.text, SESSION_KEYS) == wanted


@given(st.text(max_size=40) | st.text('outcme:l-!"\\, 8<>=', max_size=40), st.booleans())
def test_any_text_is_a_filter_or_one_sentence(text: str, is_log: bool) -> None:
    keys = LOG_KEYS if is_log else SESSION_KEYS
    try:
        found = parse_filter(text, keys)
    except FilterError as error:
        assert 0 <= error.place <= len(text)
    else:
        assert parse_filter(found.text, keys) == found
