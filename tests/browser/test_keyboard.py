"""The drill path by Tab and Enter alone, and by the shortcuts of the pages."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.chromium import wait_until_drawn
from tests.browser.conftest import Served

pytestmark = pytest.mark.browser

MOST_STEPS = 150
FOCUS_IS_SEEN = """element => {
    const shown = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    const ring = shown.outlineStyle !== 'none' && parseFloat(shown.outlineWidth) > 0;
    return box.width > 0 && box.height > 0 && (ring || shown.boxShadow !== 'none');
}"""


def test_tab_and_enter_lead_from_the_campaigns_through_a_cell_to_a_corrupt_session(
    served: Served, page: Page
) -> None:
    broken = served.scene.stored.arms[7]
    page.goto(served.address)
    wait_until_drawn(page)

    _enter(page, page.get_by_test_id("stMain").get_by_role("link", name="decisive-test"))
    expect(page).to_have_url(re.compile("/overview"))
    _enter(page, page.get_by_test_id("stMain").get_by_role("link", name="Matrix", exact=True))
    expect(page).to_have_url(re.compile("/matrix"))
    _enter(page, page.locator("summary").filter(has_text="The same matrix as a table"))
    _tab_to(page, page.get_by_label("Open a cell"))
    page.keyboard.type(broken.name)
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"arm=a-{broken.id}"))
    _enter(page, page.get_by_role("link", name="s-1", exact=True))

    expect(page.get_by_role("heading", name="s-1")).to_be_visible()
    wait_until_drawn(page)
    page.keyboard.press("j")
    expect(page.get_by_role("heading", name="s-2")).to_be_visible()
    wait_until_drawn(page)
    page.keyboard.press("k")
    expect(page.get_by_role("heading", name="s-1")).to_be_visible()


def _enter(page: Page, target: Locator) -> None:
    _tab_to(page, target)
    assert target.first.evaluate(FOCUS_IS_SEEN), "the focus cannot be seen"
    page.keyboard.press("Enter")


def _tab_to(page: Page, target: Locator) -> None:
    expect(target.first).to_be_visible()
    wait_until_drawn(page)
    for _ in range(MOST_STEPS):
        page.keyboard.press("Tab")
        if target.first.evaluate("element => element === document.activeElement"):
            return
    pytest.fail(f"{MOST_STEPS} times Tab did not reach {target}")
