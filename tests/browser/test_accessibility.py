"""axe-core finds no serious accessibility fault in any page, by day and by night."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.chromium import PATIENCE_MS, wait_until_drawn
from tests.browser.conftest import Served

pytestmark = pytest.mark.browser

AXE = (Path(__file__).parents[1] / "data" / "axe-core" / "axe.min.js").read_text("utf-8")
GRAVE = ("serious", "critical")
PATHS = (
    "",
    "overview?campaign=c-1",
    "matrix?campaign=c-1&arm=a-8",
    "arm?arm=a-8&q=outcome:leak",
    "verdicts?campaign=c-1",
    "verdicts?hypothesis=h-1",
    "run?run=r-10",
    "sessions?campaign=c-1&q=outcome:leek",
    "logs?run=r-10",
    "session?session=s-1",
    "compare?a=a-8&b=a-10",
    "compare?a=s-1&b=s-81",
    "new?file=smoke",
    "report?campaign=c-1",
    "system",
)
BOTH_THEMES = frozenset(PATHS[1:6])
# Streamlit nests the groups of its own navigation so: a list whose children are no list items.
OF_THE_FRAME = "[data-testid=stSidebarNavItems]"


SIDEWAYS = """() => {
    const main = document.querySelector('[data-testid=stMain]');
    return main.scrollWidth - main.clientWidth;
}"""
IS_DARK = """() => {
    const app = document.querySelector('[data-testid=stApp]');
    return getComputedStyle(app).backgroundColor === 'rgb(21, 23, 26)';
}"""


class Look(NamedTuple):
    path: str
    theme: str


LOOKS = [Look(path, "light") for path in PATHS] + [Look(path, "dark") for path in BOTH_THEMES]


@pytest.mark.parametrize("look", sorted(LOOKS), ids=lambda look: f"{look.path or '/'} {look.theme}")
def test_a_page_has_no_serious_accessibility_fault(
    browser: Browser, served: Served, look: Look
) -> None:
    scheme = "dark" if look.theme == "dark" else "light"
    page = browser.new_page(viewport={"width": 1440, "height": 1000}, color_scheme=scheme)
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{served.address}/{look.path}")
    wait_until_drawn(page)

    faults = _grave_faults(page)

    page.close()
    assert faults == []


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path or "/")
def test_a_page_has_no_serious_accessibility_fault_on_a_phone(
    browser: Browser, served: Served, path: str
) -> None:
    page = browser.new_page(viewport={"width": 420, "height": 900}, color_scheme="light")
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{served.address}/{path}")
    wait_until_drawn(page)

    by_day = _grave_faults(page)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(IS_DARK)
    wait_until_drawn(page)
    by_night = _grave_faults(page)

    wide = page.evaluate(SIDEWAYS)
    page.close()
    assert (by_day, by_night) == ([], [])
    assert wide <= 1, "the page scrolls sideways"


def _grave_faults(page: Page) -> list[str]:
    page.evaluate(AXE)
    report: dict[str, Any] = page.evaluate(
        "frame => axe.run({exclude: [[frame]]}, {resultTypes: ['violations']})", OF_THE_FRAME
    )
    assert report["passes"]
    return [_told(fault) for fault in report["violations"] if fault["impact"] in GRAVE]


def _told(fault: dict[str, Any]) -> str:
    first = fault["nodes"][0]
    return f"{fault['id']} in {len(fault['nodes'])} places, the first {first['html'][:200]}"
