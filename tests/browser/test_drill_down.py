"""From a cell of the matrix to the leak, in a real browser."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.chromium import dashboard, wait_until_drawn
from tests.browser.conftest import CONFIGS, Served
from tests.db.factories import stored_campaign
from tests.db.fresh_stores import fresh_store

pytestmark = pytest.mark.browser


def test_a_click_on_a_cell_leads_to_its_runs_and_to_a_corrupt_session(
    served: Served, page: Page
) -> None:
    broken = served.scene.stored.arms[7]
    page.goto(f"{served.address}/matrix?campaign=c-1")
    wait_until_drawn(page)

    _click_cell(page, bar=_bar_of(served, broken.id))
    expect(page).to_have_url(re.compile(f"arm=a-{broken.id}"))
    page.get_by_role("link", name="s-1", exact=True).click()

    expect(page.get_by_role("heading", name="s-1")).to_be_visible()
    expect(page.get_by_text("raw DSML markup came as text").first).to_be_visible()
    expect(page.get_by_text("no such tool in this session")).to_have_count(0)
    expect(page.get_by_text("offset 23: dsml markup as text")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/session\?session=s-1"))


def test_a_second_click_on_the_same_cell_keeps_the_drawer(served: Served, page: Page) -> None:
    broken = served.scene.stored.arms[7]
    page.goto(f"{served.address}/matrix?campaign=c-1")
    wait_until_drawn(page)
    bar = _bar_of(served, broken.id)

    _click_cell(page, bar=bar)
    expect(page.get_by_role("button", name="Close")).to_be_visible()
    wait_until_drawn(page)
    _click_cell(page, bar=bar)
    wait_until_drawn(page)

    expect(page.get_by_role("button", name="Close")).to_be_visible()
    expect(page).to_have_url(re.compile(f"arm=a-{broken.id}"))


def test_the_page_that_was_open_before_the_store_fills_by_itself(
    browser: Browser, page: Page, tmp_path: Path
) -> None:
    with dashboard(tmp_path / "decisive.db", CONFIGS) as address:
        page.goto(address)
        expect(page.get_by_text("Waiting for the first run")).to_be_visible()

        with fresh_store(tmp_path) as store:
            stored_campaign(store, name="first-light")

        expect(page.get_by_role("link", name="first-light")).to_be_visible()


def _bar_of(served: Served, arm_id: int | None) -> int:
    """Which bar of the picture is the cell: silent strips are bars too, behind their cell."""
    order = [arm.id for arm in served.scene.stored.arms]
    silent = {served.scene.stored.arms[index].id for index in (1, 5, 9)}
    before = order[: order.index(arm_id)]
    return len(before) + len(silent & set(before))


def _click_cell(page: Page, *, bar: int) -> None:
    """Near the corner of the cell, beside its text."""
    box = page.locator(".st-key-matrix-c-1-corrupt .barlayer path, .barlayer path").nth(bar)
    place = box.bounding_box()
    assert place is not None
    page.mouse.click(place["x"] + 12, place["y"] + 12)
