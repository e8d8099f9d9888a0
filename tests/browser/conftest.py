"""A real Chromium and a real dashboard; without a Chromium the tests skip with one sentence.

REQUIRE_BROWSER=1 makes the missing browser a failure, so that a green run has looked.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.app.scenes import Scene, decisive_test
from tests.browser.chromium import CHROMIUM, PATIENCE_MS, dashboard, launch_chromium
from tests.db.fresh_stores import fresh_store

CONFIGS = Path(__file__).parents[2] / "configs"


class Served(NamedTuple):
    """A dashboard on a filled store."""

    address: str
    scene: Scene


# Not for the session: while it is open its event loop counts as running in this thread, and no
# asyncio test after it could start one.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        sentence = f"There is no {CHROMIUM}: install Debian's package chromium."
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail(sentence)
        pytest.skip(sentence)
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        started = launch_chromium(playwright)
        yield started
        started.close()


@pytest.fixture(scope="module")
def served(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("store")
    with fresh_store(folder) as store:
        scene = decisive_test(store)
    with dashboard(folder / "decisive.db", CONFIGS) as address:
        yield Served(address, scene)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": 1440, "height": 1000})
    opened.set_default_timeout(PATIENCE_MS)
    yield opened
    opened.close()
