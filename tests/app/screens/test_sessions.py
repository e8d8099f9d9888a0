"""The list of a campaign's sessions: a filter in the address, chips, and what it refuses."""

import pandas as pd
from streamlit.testing.v1 import AppTest

from db.store import Store
from tests.app.conftest import Open, words_of
from tests.app.scenes import decisive_test
from tests.db.factories import stored_campaign

CELL = "arm:bf16-on-fp8-sized-c-80 block:1"


def _rows(page: AppTest) -> pd.DataFrame:
    (table,) = [frame.value for frame in page.dataframe if "session" in frame.value.columns]
    return table


def test_a_filter_opens_cold_with_its_sessions_and_numbers(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("sessions", campaign="c-1", q=f'outcome:leak {CELL} "order_id"')

    assert not page.exception
    rows = _rows(page)
    assert rows["outcome"].map(tuple).unique().tolist() == [("leak",)]
    assert rows["run"].unique().tolist() == ["r-8"]
    assert rows["session"].iloc[0].startswith("/session?session=s-1&q=campaign%3Ac-1+outcome")
    (chips,) = page.get("button_group")
    assert chips.options == ["all 3", "corrupt 3", ":gray[**leak 3**]"]


def test_a_filter_is_typed_and_stands_in_the_address(open_page: Open, store: Store) -> None:
    decisive_test(store)
    page = open_page("sessions", campaign="c-1")

    page.text_input[0].set_value(" outcome:error  ").run()

    assert page.query_params["q"] == "outcome:error"
    assert len(_rows(page)) == 75


def test_what_cannot_be_read_is_told_with_its_place(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("sessions", campaign="c-1", q="outcome:leek")

    assert not page.exception
    assert "at character 9" in words_of(page)
    assert "did you mean leak?" in words_of(page)
    assert page.text_input[0].value == "outcome:leek"


def test_an_arm_that_is_not_there_is_named_with_those_that_are(
    open_page: Open, store: Store
) -> None:
    decisive_test(store)

    words = words_of(open_page("sessions", campaign="c-1", q="arm:hicash,fp8"))

    assert "No arm of this campaign is named hicash. There are: a-1 " in words


def test_the_outcome_stands_beside_the_session_where_a_narrow_screen_shows_it(
    open_page: Open, store: Store
) -> None:
    decisive_test(store)

    columns = list(_rows(open_page("sessions", campaign="c-1")).columns)

    assert columns[:4] == ["session", "outcome", "run", "arm"]


def test_a_filter_that_nothing_passes_can_be_cleared(open_page: Open, store: Store) -> None:
    decisive_test(store)
    page = open_page("sessions", campaign="c-1", q="outcome:wrong")
    assert "No session passes this filter." in words_of(page)

    next(button for button in page.button if button.label == "Show all sessions").click().run()

    assert len(_rows(page)) > 0


def test_a_long_list_has_pages(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("sessions", campaign="c-1")

    assert not page.exception
    assert len(_rows(page)) <= 200


def test_a_campaign_without_sessions_says_so(open_page: Open, store: Store) -> None:
    stored_campaign(store)

    assert "No session has ended here yet." in words_of(open_page("sessions"))


def test_an_empty_store_has_no_sessions(open_page: Open, store: Store) -> None:
    page = open_page("sessions")

    assert not page.exception
