"""Two workers, two browsers, one store: they launch, stop and extend the same campaign at once."""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from db.launch_queue import LEASE_S
from db.store import open_store
from tests.browser.chromium import PATIENCE_MS, dashboard, wait_until_drawn
from tests.end_to_end.forked_programs import FORKS
from tests.end_to_end.processes import ask_store, decisive_running, wait_for
from tests.fakes.oracle_configs import write_oracle_configs

pytestmark = pytest.mark.browser


in_the_middle = pytest.mark.parametrize("shared", ["5"], indirect=True, ids=["slow"])


class Shared(NamedTuple):
    """What both look at."""

    address: str
    configs: Path

    def rows(self, query: str) -> list[tuple[object, ...]]:
        return ask_store(self.configs, query)


@pytest.fixture(scope="module", autouse=True)
def _forks_end_with_the_tests() -> Iterator[None]:
    yield
    FORKS.close()


@pytest.fixture
def shared(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Shared]:
    """An empty store, and a campaign of one arm whose answers take a second, or as told."""
    delay_s = getattr(request, "param", "1")
    configs = write_oracle_configs(
        tmp_path, levels=["fp8"], sessions=8, switches=["--answer-delay-s", delay_s]
    )
    open_store(f"sqlite:///{configs / 'decisive.db'}").close()
    with dashboard(configs / "decisive.db", configs) as address:
        yield Shared(address, configs)


@pytest.fixture
def pages(browser: Browser) -> Iterator[tuple[Page, Page]]:
    opened = (browser.new_page(), browser.new_page())
    for page in opened:
        page.set_default_timeout(PATIENCE_MS)
    yield opened
    for page in opened:
        page.close()


def test_two_who_launch_the_same_at_once_before_two_workers_get_one_campaign_run_once(
    shared: Shared, pages: tuple[Page, Page]
) -> None:
    for page in pages:
        page.goto(f"{shared.address}/new?file=oracle-test")
        wait_until_drawn(page)

    for page in pages:
        page.get_by_role("button", name=re.compile("^Queue")).click(no_wait_after=True)
    for page in pages:
        expect(page.get_by_text("waits as number 1")).to_be_visible()
        expect(page.get_by_text("waits as number 2")).to_have_count(0)
    with ExitStack() as workers:
        for _ in range(2):
            workers.enter_context(decisive_running("worker", configs=shared.configs))
        for page in pages:
            expect(page.get_by_role("link", name="oracle-test").first).to_be_visible()
        _wait_for_ends(shared, requests=1)

    assert shared.rows("SELECT state FROM launch_request") == [("done",)]
    assert shared.rows("SELECT state, attempt, n_ended FROM run") == [("done", 1, 8)]


def test_one_stops_what_the_other_extends_and_both_see_the_same(
    shared: Shared, pages: tuple[Page, Page]
) -> None:
    first, second = pages
    with decisive_running("worker", configs=shared.configs):
        _launch(first, shared)
        _wait_for_ends(shared, requests=1)
        for page in pages:
            page.goto(f"{shared.address}/overview?campaign=c-1")
            wait_until_drawn(page)
            page.get_by_role("button", name="Extend").click()
        for page in pages:
            page.get_by_role("button", name="Queue 1 run").click(no_wait_after=True)
        for page in pages:
            expect(_stop_button(page)).to_be_visible()

        _stop_button(first).click()
        # The other did not touch its page: it changes by itself.
        expect(second.get_by_role("button", name="Run what is missing (1)")).to_be_visible()
        _wait_for_ends(shared, requests=2)

    states = [state for (state,) in shared.rows("SELECT state FROM launch_request ORDER BY id")]
    assert states == ["done", "stopped"]
    assert shared.rows("SELECT count(*) FROM run WHERE state = 'driving'") == [(0,)]


@in_the_middle
def test_a_page_that_stays_open_tells_of_a_killed_worker_and_goes_on_with_the_next(
    shared: Shared, pages: tuple[Page, Page]
) -> None:
    run_page, overview = pages
    with decisive_running("worker", configs=shared.configs) as worker:
        _launch(overview, shared)
        _wait_until_driven(shared)
        run_page.goto(f"{shared.address}/run?run=r-1")
        expect(run_page.get_by_text("driving").first).to_be_visible()
        run_page.reload()
        expect(run_page.get_by_text("driving").first).to_be_visible()
        overview.goto(f"{shared.address}/overview?campaign=c-1")
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait(60)

    expect(run_page.get_by_text("Its worker has been silent").first).to_be_visible()
    expect(overview.get_by_text("Its worker has been silent").first).to_be_visible()
    with decisive_running("worker", configs=shared.configs):
        expect(run_page.get_by_text("is gone").first).to_be_visible()
        expect(run_page.get_by_text("stand outside all rates").first).to_be_visible()
        _wait_for_ends(shared, requests=1, patience_s=LEASE_S + 120)
        expect(overview.get_by_role("button", name="Extend")).to_be_visible()

    attempts = shared.rows("SELECT state, attempt FROM run ORDER BY attempt")
    assert attempts == [("stopped", 1), ("done", 2)]


@in_the_middle
def test_a_stop_of_what_a_killed_worker_left_ends_it(
    shared: Shared, pages: tuple[Page, Page]
) -> None:
    page, _ = pages
    with decisive_running("worker", configs=shared.configs) as worker:
        _launch(page, shared)
        _wait_until_driven(shared)
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait(60)
    page.goto(f"{shared.address}/overview?campaign=c-1")
    _stop_button(page).click()
    expect(page.get_by_text("Stop requested").first).to_be_visible()

    with decisive_running("worker", configs=shared.configs):
        _wait_for_ends(shared, requests=1, patience_s=LEASE_S + 120)
        expect(page.get_by_role("button", name="Run what is missing (1)")).to_be_visible()

    assert shared.rows("SELECT state FROM launch_request") == [("stopped",)]
    assert shared.rows("SELECT state FROM run") == [("stopped",)]


def _launch(page: Page, shared: Shared) -> None:
    page.goto(f"{shared.address}/new?file=oracle-test")
    page.get_by_role("button", name=re.compile("^Queue")).click()
    expect(page.get_by_role("heading", name="Campaigns")).to_be_visible()


def _stop_button(page: Page) -> Locator:
    """Of the page: Streamlit has one of its own in the frame, while a script runs."""
    main = page.get_by_test_id("stMain")
    return main.get_by_role("button", name=re.compile("Stop|Take out of the queue")).first


def _wait_until_driven(shared: Shared) -> None:
    query = "SELECT 1 FROM run WHERE state = 'driving'"
    wait_for(lambda: bool(shared.rows(query)), what="a run that is driven")


def _wait_for_ends(shared: Shared, *, requests: int, patience_s: float = 120) -> None:
    query = "SELECT count(*) FROM launch_request WHERE ended_at_us IS NOT NULL"
    wait_for(
        lambda: shared.rows(query) == [(requests,)],
        what=f"the end of {requests} requests",
        patience_s=patience_s,
    )
