"""One session: what was due, what came, the leak marked, and the way to its neighbours."""

from typing import Any

from db.store import Store
from db.vocabulary import UNKNOWN_START_US, Outcome, TurnReading
from tests.app.conftest import Open, words_of
from tests.app.scenes import HOSTILE, decisive_test
from tests.db.factories import stored_campaign, stored_run, stored_session
from tests.db.unstored_rows import TurnSpec


def test_a_leak_is_told_first_and_marked_in_the_text(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("session", session="s-1")

    assert not page.exception
    words = words_of(page)
    assert "Turn 3: leak" in words
    assert "A call of refund_order was due; raw DSML markup came as text." in words
    marked = next(code for code in page.code if code.language == "diff")
    assert "! ^^^^^^^^^^^^^^^^^^ offset 23: dsml markup as text" in str(marked.value)


def test_an_imported_session_without_times_is_laid_on_no_clock(
    open_page: Open, store: Store
) -> None:
    run = stored_run(store, stored_campaign(store).arms[0])
    stored_session(store, run, started_at_us=UNKNOWN_START_US, ended_at_us=UNKNOWN_START_US)

    page = open_page("session", session="s-1")

    assert not page.exception
    words = words_of(page)
    assert "played at an unknown time" in words
    assert "The imported file does not tell when this session was played." in words
    assert "1 Jan" not in words
    assert "nothing noteworthy" not in words


def test_only_the_turn_that_decided_is_open(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("session", session="s-1")

    assert [expander.proto.expanded for expander in page.expander] == [False, False, True]


def test_each_turn_shows_ttft_tokens_and_cached_host_tokens(open_page: Open, store: Store) -> None:
    decisive_test(store)

    label = open_page("session", session="s-1").expander[2].label.replace("\\", "")

    assert "TTFT 0.25 s" in label
    assert "30 tokens" in label
    assert "1,280 cached on host" in label


def test_the_recorded_bytes_can_be_downloaded(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("session", session="s-1")

    labels = [button.proto.label for button in page.get("download_button")]
    assert labels[:2] == ["Request (16 B)", "Response bytes (14 B)"]


def test_the_pager_stays_within_the_filter(open_page: Open, store: Store) -> None:
    decisive_test(store)
    page = open_page("session", session="s-2", q="run:8 outcome:corrupt")
    assert "2 of 12" in words_of(page)

    page.button(key="step Next").click().run()

    assert page.title[0].value == "s-3"
    assert page.query_params["q"] == "run:8 outcome:corrupt"


def test_the_first_session_has_no_previous_one(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("session", session="s-1")

    assert page.button(key="step Previous").disabled


def test_a_clean_session_says_that_it_ended_right(open_page: Open, store: Store) -> None:
    stored = stored_campaign(store)
    stored_session(store, stored_run(store, stored.arms[0]), Outcome.DONE)

    words = words_of(open_page("session", session="s-1"))

    assert "The dialogue reached its right end." in words


def test_a_silent_session_says_nothing_about_corruption(open_page: Open, store: Store) -> None:
    stored = stored_campaign(store)
    stored_session(store, stored_run(store, stored.arms[0]), Outcome.ERROR)

    words = words_of(open_page("session", session="s-1"))

    assert "no progress in time" in words
    assert "says nothing about corruption" in words


def test_the_same_dialogue_in_other_arms_is_linked(open_page: Open, store: Store) -> None:
    decisive_test(store)

    page = open_page("session", session="s-1")

    twins = page.table[0].value
    assert twins["what became of it"].str.contains("/session\\?session=s-81").any()
    for links in twins["what became of it"]:
        assert links.count("[compare](/compare?a=s-") == links.count("](/session?session=s-")


def test_hostile_text_is_never_markdown(open_page: Open, store: Store) -> None:
    page = _hostile_page(open_page, store)

    assert not page.exception
    rendered = [*page.markdown, *page.caption, *page.error]
    shown = [str(element.value) for element in rendered] + [e.label for e in page.expander]
    assert not any("<script>" in text or "**bold**" in text for text in shown)
    assert any("<script>" in str(code.value) for code in page.code)


def test_direction_and_control_characters_are_made_visible(open_page: Open, store: Store) -> None:
    page = _hostile_page(open_page, store)

    came = "\n".join(str(code.value) for code in page.code)
    assert "⟨U+202E⟩" in came
    assert "␀" in came


def test_a_session_without_turns_can_be_opened(open_page: Open, store: Store) -> None:
    stored = stored_campaign(store)
    stored_session(store, stored_run(store, stored.arms[0]), Outcome.HARNESS_ERROR, turns=())

    page = open_page("session", session="s-1")

    assert not page.exception
    assert "No turn of this session was stored." in words_of(page)


def test_a_very_long_answer_is_cut_and_says_so(open_page: Open, store: Store) -> None:
    stored = stored_campaign(store)
    turns = [TurnSpec(content="word " * 20_000)]
    stored_session(store, stored_run(store, stored.arms[0]), Outcome.DONE, turns=turns)

    words = words_of(open_page("session", session="s-1"))

    assert "88,000 after are not shown" in words


def test_an_unknown_session_is_a_friendly_page(open_page: Open, store: Store) -> None:
    page = open_page("session", session="s-404")

    assert not page.exception
    assert "There is no s-404 in this store." in words_of(page)


def test_the_page_without_an_id_says_where_sessions_are(open_page: Open, store: Store) -> None:
    page = open_page("session")

    assert not page.exception
    assert "open one from a run or a cell" in words_of(page)


def _hostile_page(open_page: Open, store: Store) -> Any:
    stored = stored_campaign(store)
    run = stored_run(store, stored.arms[0])
    turn = TurnSpec(
        reading=TurnReading.MALFORMED,
        outcome=Outcome.MALFORMED,
        content=HOSTILE,
        user=HOSTILE,
        detail=HOSTILE,
        tool_calls=({"name": HOSTILE, "arguments": HOSTILE},),
        reasoning=HOSTILE,
        more={"finish_reason": HOSTILE, "due": {"kind": "call", "name": HOSTILE}},
    )
    stored_session(
        store,
        run,
        Outcome.MALFORMED,
        turns=[turn],
        detail=HOSTILE,
        decisive_turn=0,
        dialogue_key=HOSTILE,
    )
    return open_page("session", session="s-1")
