"""The overview of a campaign: status line, rates, what to look at next, notes."""

from db.reads.campaigns import notes
from db.store import Store
from db.vocabulary import RunFlag
from tests.app.conftest import Open, words_of
from tests.app.scenes import HOSTILE, decisive_test, edit, half_way
from tests.db.factories import DECISIVE_ARMS, stored_campaign, stored_run


def test_a_pasted_link_opens_the_overview_cold(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("overview", campaign="c-1")

    assert not page.exception
    words = words_of(page)
    assert "1 refuted" in words
    assert "0 confirmed" in words
    assert "1 run invalid or failed" in words
    assert "Open s-1, first of 33 corrupt sessions" in words
    assert "order seed 7" in words


def test_at_most_three_places_are_named_to_look_at(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("overview", campaign="c-1")

    arrows = [link for link in page.get("page_link") if "arrow_forward" in link.proto.icon]
    assert 1 <= len(arrows) <= 3


def test_a_campaign_that_claims_nothing_counts_no_verdicts(open_page: Open, store: Store) -> None:
    stored_campaign(store, arms=DECISIVE_ARMS[:1])

    words = words_of(open_page("overview"))

    assert "0 runs wedged" in words
    assert "confirmed" not in words
    assert "refuted" not in words


def test_imported_runs_that_tell_no_wedges_count_none(open_page: Open, store: Store) -> None:
    (arm,) = stored_campaign(store, arms=DECISIVE_ARMS[:1]).arms
    stored_run(store, arm, flags=[RunFlag.IMPORTED])

    assert "– runs wedged" in words_of(open_page("overview"))


def test_a_campaign_in_work_says_how_far_it_is(open_page: Open, store: Store) -> None:
    half_way(store)

    words = words_of(open_page("overview"))

    assert "running" in words
    assert "52 of 80 ended" in words


def test_the_progress_of_an_open_run_is_shown_in_the_words_that_were_stored(
    open_page: Open, store: Store
) -> None:
    scene = half_way(store)
    run = next(run for run in scene.runs.values() if run.state == "driving")
    edit(
        store, run, progress_said="Progress: 52 of 80 ended, always-valid 1 % to 17 %. No verdict."
    )

    assert "always-valid 1 % to 17 %" in words_of(open_page("overview"))


def test_an_arm_whose_path_was_not_used_is_marked(open_page: Open, store: Store) -> None:
    scene = decisive_test(store)
    edit(store, next(iter(scene.runs.values())), flags=[RunFlag.NOT_EXERCISED])

    page = open_page("arm", arm="a-1")

    assert not page.exception
    assert "not exercised" in words_of(page)


def test_a_note_is_stored_with_its_author_and_shown_as_it_is(open_page: Open, store: Store) -> None:
    stored_campaign(store)
    page = open_page("overview", campaign="c-1")
    page.text_area[0].set_value(HOSTILE)
    page.text_input[0].set_value("mia")

    next(button for button in page.button if button.label == "Add note").click().run()

    with store.session() as session:
        (note,) = notes(session.connection(), 1)
    assert note.author == "mia"
    assert "**bold** [link](http://example.org)" in note.text
    assert not page.exception
    assert "**bold** [link](http://example.org)" in words_of(page)


def test_an_empty_note_is_not_stored(open_page: Open, store: Store) -> None:
    stored_campaign(store)
    page = open_page("overview", campaign="c-1")

    next(button for button in page.button if button.label == "Add note").click().run()

    with store.session() as session:
        assert notes(session.connection(), 1) == []


def test_an_unknown_campaign_says_so_on_a_friendly_page(open_page: Open, store: Store) -> None:
    stored_campaign(store)

    words = words_of(open_page("overview", campaign="c-99"))

    assert "There is no c-99 in this store." in words
    assert "All campaigns" in words
