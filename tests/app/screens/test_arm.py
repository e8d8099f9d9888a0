"""The page of one arm: counts, drift, waits, load, sessions in a filter, dialogues."""

from db.store import Store
from db.vocabulary import Outcome
from tests.app.conftest import Open, words_of
from tests.app.scenes import decisive_test, edit
from tests.db.factories import stored_campaign, stored_run, stored_session


def test_an_arm_opens_cold_with_its_counts_runs_and_dialogues(
    open_page: Open, store: Store
) -> None:
    decisive_test(store)

    page = open_page("arm", arm="a-8")

    assert not page.exception
    words = words_of(page)
    assert "baseline" in words
    assert "r-14 · block 2" in words
    assert "d-000" in words
    assert "decisive run decisive-test" in words


def test_the_filter_of_sessions_is_in_the_address(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("arm", arm="a-8", q="outcome:leak")

    assert not page.exception
    (table,) = [frame.value for frame in page.dataframe if "session" in frame.value.columns]
    assert {tuple(outcome) for outcome in table["outcome"]} == {("leak",)}
    assert (
        "/session?session=s-1&q=arm%3Aa-8+state%3Adone+outcome%3Aleak" in table["session"].tolist()
    )


def test_an_arm_without_a_finished_run_says_so_everywhere(open_page: Open, store: Store) -> None:
    stored_campaign(store)

    page = open_page("arm", arm="a-1")

    assert not page.exception
    assert "No finished run yet, so there is no rate." in words_of(page)


def test_an_arm_that_is_not_there_is_a_friendly_page(open_page: Open, store: Store) -> None:
    stored_campaign(store)

    assert "There is no a-99 in this store." in words_of(open_page("arm", arm="a-99"))


def test_no_arm_in_the_address_says_where_to_open_one(open_page: Open, store: Store) -> None:
    stored_campaign(store)

    assert "open one from the matrix" in words_of(open_page("arm"))


def test_waits_of_very_many_sessions_are_those_of_the_newest_runs(
    open_page: Open, store: Store
) -> None:
    stored = stored_campaign(store)
    for block in range(3):
        run = stored_run(store, stored.arms[0], block=block)
        stored_session(store, run, first_token_s=1.0)
        edit(store, run, n_ended=800, n_done=800)

    page = open_page("arm", arm="a-1")

    assert not page.exception
    assert "The last 2 of 3 finished runs." in words_of(page)


def test_dialogues_that_fail_are_those_of_the_newest_runs(open_page: Open, store: Store) -> None:
    stored = stored_campaign(store)
    for block in range(3):
        run = stored_run(store, stored.arms[0], block=block)
        stored_session(store, run, Outcome.LEAK, dialogue_key=f"of-block-{block}")
        edit(store, run, n_ended=2500, n_leak=2500)

    words = words_of(open_page("arm", arm="a-1"))

    assert "corrupt in 1 of 2 runs" in words
    assert "The last 2 of 3 finished runs." in words
