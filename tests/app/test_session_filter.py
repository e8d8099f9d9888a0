"""What pages make of a filter: chips that say the same, the scope of the page, the way on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.session_filter import (
    CHIPS,
    EVERY,
    Steps,
    chip_numbers,
    picked_chip,
    read_session_filter,
    scoped,
    steps_among,
    with_chip,
)
from db.filters.terms import Filter, number_term
from db.reads.session_search import ListedSession


def _filter(text: str) -> Filter:
    read = read_session_filter(text)
    assert read.fault is None
    return read.filter


@pytest.mark.parametrize(
    ("text", "chip"),
    [
        ("", EVERY),
        ("c:80", EVERY),
        ("outcome:leak c:80", "leak"),
        ("outcome:silent", "silent"),
        ("-outcome:leak", None),
        ("outcome:leak,wrong", None),
        ("outcome:corrupt outcome:leak", None),
        ("outcome:ours", None),
    ],
)
def test_a_chip_is_picked_where_it_says_what_the_filter_says(text: str, chip: str | None) -> None:
    assert picked_chip(_filter(text)) == chip


@pytest.mark.parametrize("chip", CHIPS)
def test_picking_a_chip_changes_the_outcomes_and_nothing_else(chip: str) -> None:
    changed = with_chip(_filter('outcome:done,error c:80 "x"'), chip)

    assert picked_chip(changed) == chip
    assert changed.without("outcome") == _filter('c:80 "x"')


def test_chips_count_classes_and_outcomes_and_leave_out_what_is_not_there() -> None:
    numbers = chip_numbers({"leak": 3, "wrong": 1, "done": 4, "error": 0})

    assert numbers == {"all": 8, "corrupt": 4, "clean": 4, "leak": 3, "wrong": 1, "done": 4}


def test_the_scope_of_a_page_stands_before_the_filter_once() -> None:
    assert scoped(_filter("outcome:leak"), number_term("run", 7)) == "run:7 outcome:leak"
    assert scoped(_filter("run:7 c:1"), number_term("run", 7)) == "run:7 c:1"


def test_what_cannot_be_read_lets_all_pass_and_says_why() -> None:
    read = read_session_filter("outcome:leek")

    assert read.filter == Filter()
    assert read.fault is not None
    assert "character 9" in read.fault


LIST = [ListedSession(5, 2, 0), ListedSession(6, 2, 3), ListedSession(1, 1, 0)]


@pytest.mark.parametrize(
    ("here", "steps"),
    [
        (LIST[0], Steps(1, 3, None, 6)),
        (LIST[1], Steps(2, 3, 5, 1)),
        (LIST[2], Steps(3, 3, 6, None)),
        (ListedSession(9, 2, 1), Steps(None, 3, 5, 6)),
        (ListedSession(9, 3, 0), Steps(None, 3, None, 5)),
        (ListedSession(9, 1, 1), Steps(None, 3, 1, None)),
    ],
)
def test_steps_lead_to_the_neighbours_in_the_list(here: ListedSession, steps: Steps) -> None:
    assert steps_among(LIST, here) == steps


def test_an_empty_list_leads_nowhere() -> None:
    assert steps_among([], LIST[0]) == Steps(None, 0, None, None)


@given(st.sets(st.tuples(st.integers(1, 5), st.integers(0, 5)), min_size=1))
def test_stepping_on_visits_every_session_of_the_list_once(keys: set[tuple[int, int]]) -> None:
    listed = [ListedSession(run * 10 + index, run, index) for run, index in keys]
    listed.sort(key=lambda place: place.rank)
    by_id = {place.id: place for place in listed}

    visited = [listed[0].id]
    while (onward := steps_among(listed, by_id[visited[-1]]).next_id) is not None:
        visited.append(onward)

    assert visited == [place.id for place in listed]
