"""One run: live while it is driven, its proof, and what is said when it does not count."""

import pytest
from streamlit.testing.v1 import AppTest

from app.kept_answers import forget_answers
from app.widgets.run_parts import shown_token
from db.launch_queue import claim, enqueue, name_campaign
from db.store import Store
from db.vocabulary import Outcome, RunFlag, RunState
from tests.app.conftest import Open, words_of
from tests.app.scenes import decisive_test, edit, half_way
from tests.db.factories import stored_campaign, stored_id, stored_log_events, stored_run

WEDGED = "bf16 · on · dtype-aware · C=80 #1"


def test_a_finished_run_prints_its_five_lines(open_page: Open, store: Store) -> None:
    scene = decisive_test(store)
    run = scene.runs[WEDGED]

    page = open_page("run", run=f"r-{run.id}")

    assert not page.exception
    words = words_of(page)
    assert "CORRUPTION sessions: 5/80 = 6%  (leak=5 no_tool=0 error=75" in words
    assert "WaitingForInput/aborts during run: 168 (75 requests)" in words
    assert "evidence: 5 of 80 sessions; corrupt 5/5 of those; bounds 6%..100%" in words
    assert "Corrupt 5/80 6.3–100\u2009% [2.7–100]" in words


def test_an_imported_run_that_tells_no_wedges_has_a_dash(open_page: Open, store: Store) -> None:
    arm = stored_campaign(store).arms[0]
    stored_run(store, arm, flags=[RunFlag.IMPORTED], counts={Outcome.LEAK: 1})
    stored_run(store, arm, block=1, flags=[RunFlag.IMPORTED], wedge_requests=3)

    assert "Wedge requests –" in words_of(open_page("run", run="r-1"))
    assert "Wedge requests 3" in words_of(open_page("run", run="r-2"))


def test_a_run_in_work_is_shown_so_far(open_page: Open, store: Store) -> None:
    half_way(store)

    page = open_page("run")

    assert not page.exception
    words = words_of(page)
    assert "Corrupt so far 3/52" in words
    assert "52 of 80" in words
    assert "every 2 s" in words
    assert "Started at a terminal: stop it there." in words
    assert "run" not in page.query_params
    assert page.query_params["campaign"] == "c-1"


def test_a_run_that_the_queue_started_can_be_stopped(open_page: Open, store: Store) -> None:
    scene = half_way(store)
    enqueue(store, "half-way")
    request = claim(store, "w-1")
    assert request is not None
    campaign_id = stored_id(scene.stored.campaign)
    name_campaign(store, stored_id(request), "w-1", campaign_id=campaign_id)
    page = open_page("run")

    next(button for button in page.button if button.label == "Stop campaign").click().run()

    assert "Stop requested" in words_of(page)


@pytest.mark.parametrize(
    ("state", "title"),
    [
        (RunState.INVALID, "Invalid: the evidence does not count"),
        (RunState.FAILED, "Failed: it says nothing of its arm"),
        (RunState.STOPPED, "Stopped"),
    ],
)
def test_a_run_that_does_not_count_says_so_first(
    open_page: Open, store: Store, state: RunState, title: str
) -> None:
    stored = stored_campaign(store)
    stored_run(store, stored.arms[0], state=state, reason="port *8000* taken")

    words = words_of(open_page("run", run="r-1"))

    assert title in words
    assert "port *8000* taken" in words
    assert "stand outside all rates" in words


def test_a_server_that_did_not_start_shows_the_end_of_its_log_line_by_line(
    open_page: Open, store: Store
) -> None:
    stored = stored_campaign(store)
    log_end = "\n".join(["Loading weights", *["x" * 90] * 9, "torch.OutOfMemoryError"])
    stored_run(
        store,
        stored.arms[0],
        state=RunState.FAILED,
        reason=f"server was not ready within 90 s\n{log_end}",
        driving_at_us=None,
    )

    page = open_page("run", run="r-1")

    assert "server was not ready within 90 s" in page.warning[0].value
    assert "Loading" not in page.warning[0].value
    assert [shown.value for shown in page.code] == [log_end]
    assert "so far" not in words_of(page)


def test_flags_are_told_in_words(open_page: Open, store: Store) -> None:
    stored = stored_campaign(store)
    stored_run(store, stored.arms[0], flags=[RunFlag.SERVER_DIED])

    assert "the server died" in words_of(open_page("run", run="r-1"))


def test_expected_and_found_of_each_check_are_shown(open_page: Open, store: Store) -> None:
    scene = decisive_test(store)
    run = scene.runs[WEDGED]

    page = open_page("run", run=f"r-{run.id}")

    checks = next(table.value for table in page.table if "expected" in table.value.columns)
    assert checks["expected"].tolist() == ["bf16", "256"]
    assert checks["found"].tolist() == ["bf16", "256"]


def test_sessions_are_links_that_carry_the_id_and_the_filter(open_page: Open, store: Store) -> None:
    scene = decisive_test(store)
    run = scene.runs[WEDGED]

    page = open_page("run", run=f"r-{run.id}", q="outcome:leak")

    sessions = page.dataframe[0].value
    assert len(sessions) == 5
    assert sessions["session"].iloc[0] == "/session?session=s-81&q=run%3A10+outcome%3Aleak"


def test_a_filter_that_matches_nothing_offers_to_clear_it(open_page: Open, store: Store) -> None:
    stored = stored_campaign(store)
    stored_run(store, stored.arms[0], counts={Outcome.DONE: 2})

    page = open_page("run", run="r-1", q="outcome:leak")
    assert "No session passes this filter." in words_of(page)
    next(button for button in page.button if button.label == "Show all sessions").click().run()

    assert len(page.dataframe[0].value) == 2


def test_log_events_are_shown_as_they_were_logged(open_page: Open, store: Store) -> None:
    stored = stored_campaign(store)
    run = stored_run(store, stored.arms[0], counts={Outcome.DONE: 1})
    stored_log_events(store, run, ["Decode transfer failed <b>rid</b>"])

    page = open_page("run", run="r-1")

    assert any("<b>rid</b>" in str(code.value) for code in page.code)
    assert not any("<b>rid</b>" in str(text.value) for text in page.markdown)


def test_a_planned_run_can_be_opened(open_page: Open, store: Store) -> None:
    stored = stored_campaign(store)
    stored_run(store, stored.arms[0], state=RunState.PLANNED)

    page = open_page("run", run="r-1")

    assert not page.exception
    assert "No session has ended here yet." in words_of(page)


def test_a_campaign_without_runs_says_so(open_page: Open, store: Store) -> None:
    stored_campaign(store)

    assert "This campaign has planned nothing yet." in words_of(open_page("run"))


def test_an_unknown_run_is_a_friendly_page(open_page: Open, store: Store) -> None:
    stored_campaign(store)

    page = open_page("run", run="r-77")

    assert not page.exception
    assert "There is no r-77 in this store." in words_of(page)


def test_choosing_another_run_changes_the_address(open_page: Open, store: Store) -> None:
    stored = stored_campaign(store)
    stored_run(store, stored.arms[0])
    other = stored_run(store, stored.arms[1])
    page = open_page("run", run="r-1")

    page.main.selectbox[0].set_value(stored_id(other)).run()

    assert page.query_params["run"] == "r-2"
    assert page.title[0].value == "r-2"


def test_a_redraw_follows_the_run_to_its_end(open_page: Open, store: Store) -> None:
    stored = stored_campaign(store)
    run = stored_run(store, stored.arms[0], state=RunState.DRIVING)
    page = open_page("run", run="r-1")
    edit(store, run, state=RunState.DONE, wall_s=60.0)

    page = open_page("run", run="r-1")

    assert "every 2 s" not in words_of(page)


def test_any_scraped_series_can_be_drawn_and_is_part_of_the_address(
    open_page: Open, store: Store
) -> None:
    scene = decisive_test(store)
    page = open_page("run", run=f"r-{scene.runs[WEDGED].id}")

    page.main.selectbox[1].set_value("sglang:num_running_reqs").run()

    assert not page.exception
    assert page.query_params["series"] == "sglang:num_running_reqs"


def test_a_series_that_the_run_lacks_is_named(open_page: Open, store: Store) -> None:
    scene = decisive_test(store)

    page = open_page("run", run=f"r-{scene.runs[WEDGED].id}", series="foo")

    assert "This run has no series foo." in words_of(page)


def test_the_run_in_the_address_decides_the_campaign(open_page: Open, store: Store) -> None:
    stored = stored_campaign(store)
    stored_run(store, stored.arms[0])
    stored_campaign(store, name="other")

    page = open_page("run", run="r-1", campaign="c-2")

    assert not page.exception
    assert page.title[0].value == "r-1"


def test_without_a_run_in_its_address_the_page_follows_to_the_next_one(store: Store) -> None:
    following, driving = list(half_way(store).runs.values())[2:4]
    edit(store, driving, state=RunState.DONE)
    between = shown_token(1, None), shown_token(1, driving.id)

    edit(store, following, state=RunState.APPLYING)
    forget_answers()

    assert shown_token(1, None) != between[0]
    assert shown_token(1, driving.id) == between[1]


def test_a_page_goes_on_following_when_a_browser_still_tells_of_what_it_showed_before(
    open_page: Open, store: Store
) -> None:
    following, driving = list(half_way(store).runs.values())[2:4]
    page = open_page("run", campaign="c-1")
    assert _shown_run(page) == driving.id
    told = page._tree.get_widget_states()

    edit(store, driving, state=RunState.DONE)
    edit(store, following, state=RunState.APPLYING)
    forget_answers()
    page.run()
    page._run(told)  # what a poll sends that left before the new page arrived

    assert _shown_run(page) == following.id
    assert set(page.query_params) == {"campaign"}


def _shown_run(page: AppTest) -> int:
    return int(page.title[0].value.removeprefix("r-"))
