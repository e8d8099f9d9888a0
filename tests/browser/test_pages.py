"""The pages in a real browser: down and up, links that open cold, both themes, two viewers."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.app.scenes import HOSTILE, decisive_test
from tests.browser.chromium import PATIENCE_MS, dashboard, wait_until_drawn
from tests.browser.conftest import CONFIGS, Served
from tests.db.fresh_stores import fresh_store

pytestmark = pytest.mark.browser

BROKEN = 8
COLD = (
    "",
    "overview?campaign=c-1",
    "matrix?campaign=c-1&arm=a-8",
    "matrix?campaign=c-1&rows=hicache&cols=index_keys&facet=concurrency",
    f"arm?arm=a-{BROKEN}",
    "verdicts?hypothesis=h-1",
    "run?run=r-10",
    "logs?run=r-10&start=9&end=12",
    "session?session=s-1",
    "sessions?campaign=c-1&q=outcome:corrupt",
    "compare?a=r-8&b=r-10",
    "new?file=smoke",
    "report?campaign=c-1",
    "system",
)


@pytest.fixture
def complaints(page: Page) -> Iterator[list[str]]:
    """What the browser's console called an error while the page was open."""
    found: list[str] = []

    def note(message: ConsoleMessage) -> None:
        # Streamlit asks for its own server below the path of a page first, and is sent to the root.
        is_probe = "/_stcore/" in message.location.get("url", "")
        if message.type == "error" and not is_probe:
            found.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: found.append(str(error)))
    yield found


def open_page(page: Page, served: Served, path: str) -> None:
    page.goto(f"{served.address}/{path}")
    wait_until_drawn(page)


def test_two_clicks_lead_from_the_start_to_a_corrupt_transcript(served: Served, page: Page) -> None:
    open_page(page, served, "")

    page.get_by_role("link", name="decisive-test").first.click()
    expect(page.get_by_text("What to look at next")).to_be_visible()
    page.get_by_role("link", name=re.compile("first of 33 corrupt sessions")).click()

    expect(page.get_by_role("heading", name="s-1")).to_be_visible()
    expect(page.get_by_text("raw DSML markup came as text").first).to_be_visible()
    expect(page.get_by_role("link", name="bf16 · on · fp8-sized · C=80")).to_be_visible()


@pytest.mark.parametrize("path", COLD)
def test_a_link_opens_cold_without_an_error_in_the_console(
    served: Served, page: Page, complaints: list[str], path: str
) -> None:
    open_page(page, served, path)

    expect(page.get_by_text("This page could not be drawn")).to_have_count(0)
    expect(page.get_by_role("heading").first).to_be_visible()
    assert complaints == []


def test_the_trail_leads_up_again(served: Served, page: Page) -> None:
    open_page(page, served, "session?session=s-1")

    page.get_by_role("link", name="bf16 · on · fp8-sized · C=80").first.click()
    expect(page).to_have_url(re.compile(r"/matrix\?campaign=c-1&arm=a-8"))
    wait_until_drawn(page)
    page.get_by_role("link", name="c-1 decisive-test").first.click()

    expect(page).to_have_url(re.compile(r"/overview\?campaign=c-1"))


def test_back_returns_to_the_page_before(served: Served, page: Page) -> None:
    open_page(page, served, "overview?campaign=c-1")
    page.get_by_role("link", name="Matrix", exact=True).last.click()
    expect(page).to_have_url(re.compile("/matrix"))
    wait_until_drawn(page)

    for _ in range(3):  # a link of Streamlit leaves two entries in the history
        if "/overview" in page.url:
            break
        page.go_back()
        page.wait_for_timeout(300)

    # Exact, since the navigation may still show its tooltip with the same words in it.
    expect(page.get_by_text("What to look at next", exact=True)).to_be_visible()


def test_a_factor_in_facets_draws_a_matrix_for_each_level(served: Served, page: Page) -> None:
    open_page(page, served, "matrix?campaign=c-1")

    page.get_by_label("Facets").click()
    page.get_by_role("option", name="hicache").click()

    expect(page).to_have_url(re.compile("facet=hicache"))
    expect(page.get_by_text("hicache off", exact=True)).to_be_visible()
    expect(page.get_by_text("hicache on", exact=True)).to_be_visible()


def test_two_cells_that_are_picked_are_compared(served: Served, page: Page) -> None:
    open_page(page, served, f"matrix?campaign=c-1&arm=a-{BROKEN}&pick=a-2")

    page.get_by_role("link", name="Compare A with B").click()

    expect(page.get_by_role("heading", name="Compare")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/compare\?a=a-2&b=a-\d+"))


def test_a_filter_survives_a_reload(served: Served, page: Page) -> None:
    open_page(page, served, f"arm?arm=a-{BROKEN}")
    page.get_by_test_id("stButtonGroup").get_by_text("leak 33").click()
    expect(page).to_have_url(re.compile("q=outcome%3Aleak"))
    wait_until_drawn(page)

    page.reload()
    wait_until_drawn(page)

    expect(page).to_have_url(re.compile("outcome%3Aleak"))
    expect(page.get_by_test_id("stButtonGroup").get_by_text("leak 33")).to_be_visible()


def test_j_steps_to_the_next_session_in_the_filter(served: Served, page: Page) -> None:
    open_page(page, served, "session?session=s-1&q=outcome:leak")

    page.keyboard.press("j")

    expect(page.get_by_role("heading", name="s-2")).to_be_visible()
    expect(page).to_have_url(re.compile("outcome%3Aleak"))


@pytest.mark.parametrize(
    "path", ["overview?campaign=c-1", "run?run=r-10", "verdicts?hypothesis=h-1"]
)
def test_a_narrow_screen_never_scrolls_sideways(
    browser: Browser, served: Served, path: str
) -> None:
    page = browser.new_page(viewport={"width": 420, "height": 900})
    page.set_default_timeout(PATIENCE_MS)
    open_page(page, served, path)

    wide = page.evaluate(
        "() => { const m = document.querySelector('[data-testid=stMain]');"
        " return m.scrollWidth - m.clientWidth }"
    )

    page.close()
    assert wide <= 1


def test_a_narrow_screen_shows_all_columns_of_the_suspects(
    browser: Browser, served: Served
) -> None:
    page = browser.new_page(viewport={"width": 420, "height": 900})
    page.set_default_timeout(PATIENCE_MS)
    open_page(page, served, "verdicts?campaign=c-1")

    cut_px = page.evaluate(
        "() => Math.max(...[...document.querySelectorAll('[data-testid=stTable]')].map("
        "t => t.querySelector('table').offsetWidth - t.clientWidth))"
    )

    page.close()
    assert cut_px <= 1


def test_an_id_is_never_broken_at_its_hyphen(served: Served, page: Page) -> None:
    open_page(page, served, "session?session=s-1")

    other = page.locator("td a", has_text=re.compile(r"^s-\d+$")).first

    expect(other).to_have_css("white-space", "nowrap")


def test_the_dark_theme_is_dark(browser: Browser, served: Served) -> None:
    page = browser.new_page(color_scheme="dark")
    page.set_default_timeout(PATIENCE_MS)
    open_page(page, served, "overview?campaign=c-1")

    background = page.evaluate(
        "() => getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"
    )

    page.close()
    assert background == "rgb(21, 23, 26)"


def test_two_viewers_see_the_same_queue_and_a_stop(browser: Browser, tmp_path: Path) -> None:
    with fresh_store(tmp_path) as store:
        decisive_test(store)
    with dashboard(tmp_path / "decisive.db", CONFIGS) as address:
        first, second = browser.new_page(), browser.new_page()
        for page in (first, second):
            page.set_default_timeout(PATIENCE_MS)
        second.goto(address)
        wait_until_drawn(second)
        first.goto(f"{address}/new?file=smoke")
        first.get_by_role("button", name=re.compile("^Queue")).click()

        expect(second.get_by_text("waits as number 1")).to_be_visible()
        second.get_by_role("button", name="Take out of the queue").first.click()
        expect(first.get_by_text("waits as number 1")).to_have_count(0)
        first.close()
        second.close()


def test_a_hostile_note_is_text_and_runs_nothing(browser: Browser, tmp_path: Path) -> None:
    with fresh_store(tmp_path) as store:
        decisive_test(store)
    with dashboard(tmp_path / "decisive.db", CONFIGS) as address:
        page = browser.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
        page.goto(f"{address}/overview?campaign=c-1")
        wait_until_drawn(page)
        page.get_by_role("textbox", name="Note").fill(HOSTILE.replace("\x00", ""))
        page.get_by_role("button", name="Add note").click()

        expect(page.get_by_text('<script>alert("x")</script>').first).to_be_visible()
        page.close()
