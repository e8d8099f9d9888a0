"""Going on with a campaign: nothing is queued that would run nothing, what failed is run again."""

from pathlib import Path

import pytest

from app.settings import CONFIGS_VARIABLE
from db.launch_queue import claim, enqueue, name_campaign
from db.reads import work
from db.store import Store
from db.tables.campaigns import ArmRow, CampaignRow
from db.tables.runs import RunRow
from db.vocabulary import Outcome, RunState
from runner.campaign.campaign_file import load_campaign
from runner.campaign.definition import definition_key
from runner.campaign.plan import Plan, make_plan
from runner.campaign.stack_file import load_stack
from tests.app.conftest import Open, words_of
from tests.db.factories import ArmSpec, stored_campaign, stored_run

CONFIGS = Path(__file__).parents[3] / "configs"
DONE = {Outcome.DONE: 40}


def smoke_plan(configs: Path = CONFIGS) -> Plan:
    stack = load_stack(configs / "stacks" / "testbed.yaml")
    return make_plan(load_campaign(configs / "campaigns" / "smoke.yaml"), stack)


def stored_smoke(store: Store, *states: RunState, configs: Path = CONFIGS) -> list[RunRow]:
    """The smoke campaign as a worker leaves it, its runs in these states."""
    plan = smoke_plan(configs)
    stack = load_stack(configs / "stacks" / "testbed.yaml")
    arms = [ArmSpec(arm.name, dict(arm.levels), arm.concurrency, arm.sessions) for arm in plan.arms]
    key = definition_key(plan.campaign, stack)
    stored = stored_campaign(store, name="smoke", arms=arms, definition_key=key)
    _fit_seed(store, stored.campaign, plan.campaign.schedule.order_seed)
    by_name: dict[str, ArmRow] = {arm.name: arm for arm in stored.arms}
    return [
        stored_run(
            store,
            by_name[run.arm.name],
            state=state,
            block=run.block,
            run_key=run.run_key,
            sessions_planned=run.arm.sessions,
            n_ended=40 if state is RunState.DONE else 0,
            n_done=40 if state is RunState.DONE else 0,
        )
        for run, state in zip(plan.runs, states, strict=True)
    ]


def _fit_seed(store: Store, campaign: CampaignRow, seed: int) -> None:
    with store.write() as session:
        row = session.get(CampaignRow, campaign.id)
        assert row is not None
        row.order_seed = seed


def test_a_finished_campaign_is_not_queued_to_run_nothing(open_page: Open, store: Store) -> None:
    stored_smoke(store, RunState.DONE, RunState.DONE)

    page = open_page("new", file="smoke")

    assert not page.exception
    words = words_of(page)
    assert "Nothing is missing" in words
    assert "c-1 has done all 2 runs of this plan" in words
    (queue,) = [button for button in page.button if button.label.startswith("Queue")]
    assert queue.disabled


def test_more_blocks_extend_it_and_only_what_is_new_is_queued(
    open_page: Open, store: Store
) -> None:
    stored_smoke(store, RunState.DONE, RunState.DONE)
    page = open_page("new", file="smoke")

    page.number_input(key="blocks smoke").set_value(3).run()
    assert "Extends it from 1 to 3 blocks" in words_of(page)
    next(button for button in page.button if button.label == "Queue 160 sessions").click().run()

    (request,) = _requests(store)
    assert (request.campaign_file, request.blocks) == ("smoke", 3)


def test_the_overview_extends_a_finished_campaign(open_page: Open, store: Store) -> None:
    stored_smoke(store, RunState.DONE, RunState.DONE)
    page = open_page("overview", campaign="c-1")
    assert "2 more runs, 80 sessions" in words_of(page)

    next(button for button in page.button if button.label == "Queue 2 runs").click().run()

    (request,) = _requests(store)
    assert (request.blocks, request.order_seed, request.levels) == (2, None, {})


def test_the_overview_runs_again_what_failed(open_page: Open, store: Store) -> None:
    stored_smoke(store, RunState.DONE, RunState.FAILED)
    page = open_page("overview", campaign="c-1")
    assert "1 of 2 runs are done, 1 run to do, 1 of them again" in words_of(page)

    next(button for button in page.button if button.label == "Queue 1 run").click().run()

    (request,) = _requests(store)
    assert (request.campaign_file, request.blocks) == ("smoke", None)


def test_a_stopped_campaign_says_that_it_is_stopped(open_page: Open, store: Store) -> None:
    stored_smoke(store, RunState.STOPPED, RunState.PLANNED)

    words = words_of(open_page("overview", campaign="c-1"))

    assert "stopped" in words
    assert "waiting" not in words


def test_a_campaign_that_the_queue_runs_can_be_stopped_from_its_overview(
    open_page: Open, store: Store
) -> None:
    stored_smoke(store, RunState.DRIVING, RunState.PLANNED)
    enqueue(store, "smoke")
    request = claim(store, "w-1")
    assert request is not None and request.id is not None
    name_campaign(store, request.id, "w-1", campaign_id=1)
    page = open_page("overview", campaign="c-1")

    next(button for button in page.button if button.label == "Stop campaign").click().run()

    assert _requests(store)[0].stop_requested


def test_a_file_that_has_changed_since_is_not_taken_for_the_same_campaign(
    open_page: Open, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored_smoke(store, RunState.DONE, RunState.FAILED)
    for folder in ("campaigns", "stacks"):
        (tmp_path / "configs" / folder).mkdir(parents=True)
    text = (CONFIGS / "campaigns" / "smoke.yaml").read_text("utf-8")
    changed = text.replace("max_tokens: 400", "max_tokens: 300")
    (tmp_path / "configs" / "campaigns" / "smoke.yaml").write_text(changed, "utf-8")
    stack = (CONFIGS / "stacks" / "testbed.yaml").read_text("utf-8")
    (tmp_path / "configs" / "stacks" / "testbed.yaml").write_text(stack, "utf-8")
    monkeypatch.setenv(CONFIGS_VARIABLE, str(tmp_path / "configs"))

    words = words_of(open_page("overview", campaign="c-1"))

    assert "The file smoke has changed since" in words


def test_those_who_wait_see_their_place_in_the_queue(open_page: Open, store: Store) -> None:
    for name in ("smoke", "decisive-test"):
        enqueue(store, name)

    words = words_of(open_page())

    assert "waits as number 1" in words
    assert "waits as number 2" in words


def test_what_a_plan_can_tell_apart_is_said_before_it_is_queued(
    open_page: Open, store: Store
) -> None:
    words = words_of(open_page("new", file="smoke"))

    assert "What this plan can answer" in words
    assert "smallest detectable effect" in words


def _requests(store: Store) -> list[work.LaunchRequestFacts]:
    with store.session() as session:
        return work.recent_requests(session.connection())


def test_the_verdicts_page_queues_what_comes_next_by_one_click(
    open_page: Open, store: Store
) -> None:
    stored_smoke(store, RunState.DONE, RunState.FAILED)
    page = open_page("verdicts", campaign="c-1")
    assert "What is missing: 1 run, 1 of them again" in words_of(page)

    next(button for button in page.button if button.label == "Queue 1 run").click().run()

    assert not page.exception
    with store.session() as session:
        (request,) = work.open_requests(session.connection())
    assert (request.campaign_file, request.blocks) == ("smoke", None)
