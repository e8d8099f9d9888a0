"""Until decided, from the page: where it is offered, what it asks for, and how it is shown."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from app.settings import CONFIGS_VARIABLE
from db.launch_queue import claim, enqueue, finish, name_campaign, request_stop
from db.reads import work
from db.store import Store
from db.tables.campaigns import VerdictRow
from db.vocabulary import (
    Availability,
    Direction,
    Elimination,
    Headline,
    LaunchRequestState,
    RunState,
)
from tests.app.conftest import Open, words_of
from tests.app.screens.test_launch_again import CONFIGS, stored_smoke

UNTIL_DECIDED = "until decided smoke"


@pytest.fixture
def configs(tmp_path: Path, store_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The smoke campaign under its sequential rule."""
    folder = tmp_path / "configs"
    for kind, name in (("campaigns", "smoke"), ("stacks", "testbed")):
        (folder / kind).mkdir(parents=True)
        text = (CONFIGS / kind / f"{name}.yaml").read_text("utf-8")
        decided = text.replace("stop: fixed", "stop: decided")
        (folder / kind / f"{name}.yaml").write_text(decided, "utf-8")
    monkeypatch.setenv(CONFIGS_VARIABLE, str(folder))
    return folder


def test_a_new_campaign_is_queued_until_it_is_decided(
    open_page: Open, store: Store, configs: Path
) -> None:
    page = open_page("new", file="smoke")

    page.checkbox(key=UNTIL_DECIDED).check().run()
    assert "One block after the other, 40 more sessions per arm each" in words_of(page)
    assert "At most 48 more runs, 1,920 sessions" in words_of(page)
    boxes = {box.label: box.value for box in page.metric}
    assert (boxes["Runs at first"], boxes["Sessions at first"]) == ("2", "80")
    page.number_input(key="most blocks smoke 1").set_value(6).run()
    _press(page, "Queue until decided")

    (request,) = _requests(store)
    assert (request.campaign_file, request.blocks, request.most_blocks) == ("smoke", None, 6)
    assert "queued until decided, at most 6 blocks" in words_of(page)


def test_a_fixed_campaign_says_why_it_is_not_offered(open_page: Open, store: Store) -> None:
    page = open_page("new", file="smoke")

    assert page.checkbox(key=UNTIL_DECIDED).disabled
    assert "smoke has stop: fixed" in words_of(page)


def test_levels_that_leave_no_hypothesis_leave_nothing_to_decide(
    open_page: Open, store: Store, configs: Path
) -> None:
    page = open_page("new", file="smoke")

    page.multiselect(key="levels smoke index_keys").set_value(["bf16"]).run()

    assert page.checkbox(key=UNTIL_DECIDED).disabled
    assert "smoke has no hypothesis that could be decided." in words_of(page)


def test_a_finished_campaign_is_extended_until_it_is_decided(
    open_page: Open, store: Store, configs: Path
) -> None:
    stored_smoke(store, RunState.DONE, RunState.DONE, configs=configs)
    page = open_page("overview", campaign="c-1")

    page.checkbox(key=UNTIL_DECIDED).check().run()
    assert "40 more sessions per arm each" in words_of(page)
    _press(page, "Queue until decided")

    (request,) = _requests(store)
    assert (request.blocks, request.most_blocks) == (None, 24)


def test_a_campaign_that_is_done_goes_on_from_the_page_of_new_ones(
    open_page: Open, store: Store, configs: Path
) -> None:
    stored_smoke(store, RunState.DONE, RunState.DONE, configs=configs)
    page = open_page("new", file="smoke")

    page.checkbox(key=UNTIL_DECIDED).check().run()

    assert "Its 2 runs are done; further blocks are added." in words_of(page)
    assert "Nothing is missing" not in words_of(page)
    assert not _button(page, "Queue until decided").disabled


def test_what_is_decided_is_not_extended_until_it_is(
    open_page: Open, store: Store, configs: Path
) -> None:
    stored_smoke(store, RunState.DONE, RunState.DONE, configs=configs)
    _judge(store, Headline.REFUTED)

    page = open_page("overview", campaign="c-1")

    assert page.checkbox(key=UNTIL_DECIDED).disabled
    assert "Every registered hypothesis is decided." in words_of(page)


def test_resuming_what_was_stopped_keeps_it(open_page: Open, store: Store, configs: Path) -> None:
    stored_smoke(store, RunState.DONE, RunState.STOPPED, configs=configs)
    request_id = _claimed(store, most_blocks=5)
    request_stop(store, request_id)
    finish(store, request_id, "w-1", state=LaunchRequestState.STOPPED)
    page = open_page("overview", campaign="c-1")
    assert page.checkbox(key=UNTIL_DECIDED).value

    _press(page, "Queue until decided")

    assert _requests(store)[0].most_blocks == 5


def test_the_verdicts_page_goes_on_until_it_is_decided_too(
    open_page: Open, store: Store, configs: Path
) -> None:
    stored_smoke(store, RunState.DONE, RunState.DONE, configs=configs)
    page = open_page("verdicts", campaign="c-1")

    page.checkbox(key=UNTIL_DECIDED).check().run()
    _press(page, "Queue until decided")

    assert not page.exception
    assert _requests(store)[0].most_blocks == 24


def test_while_it_runs_the_overview_says_until_when_and_is_not_done_between_blocks(
    open_page: Open, store: Store, configs: Path
) -> None:
    stored_smoke(store, RunState.DONE, RunState.DONE, configs=configs)
    _claimed(store, most_blocks=5)

    page = open_page("overview", campaign="c-1")

    words = words_of(page)
    assert "until decided, at most 5 blocks" in words
    assert "running" in words
    assert _button(page, "Stop campaign")


def test_the_queue_says_what_came_of_it(open_page: Open, store: Store, configs: Path) -> None:
    said = "not decided after 5 blocks: fp8; no more were asked for"
    stored_smoke(store, RunState.DONE, RunState.DONE, configs=configs)
    request_id = _claimed(store, most_blocks=5)
    finish(store, request_id, "w-1", state=LaunchRequestState.DONE, message=said)

    assert f"smoke done: {said}" in words_of(open_page())


def _claimed(store: Store, *, most_blocks: int) -> int:
    enqueue(store, "smoke", most_blocks=most_blocks)
    request = claim(store, "w-1")
    assert request is not None and request.id is not None
    name_campaign(store, request.id, "w-1", campaign_id=1)
    return request.id


def _judge(store: Store, headline: Headline) -> None:
    verdict = VerdictRow(
        hypothesis_id=1,
        headline=headline,
        elimination=Elimination.REFUTED,
        direction=Direction.UNCLEAR,
        availability=Availability.NOT_SHOWN_WORSE,
        sentence="Refuted.",
        method="criterion",
        decided_at_us=1,
    )
    with store.write() as session:
        session.add(verdict)


def _button(page: AppTest, label: str) -> Button:
    return next(button for button in page.button if button.label == label)


def _press(page: AppTest, label: str) -> None:
    _button(page, label).click().run()


def _requests(store: Store) -> list[work.LaunchRequestFacts]:
    with store.session() as session:
        return work.recent_requests(session.connection())
