"""Pictures of a running dashboard: python -m tests.browser.take_screenshots URL FOLDER [PATH ...].

Each page is taken in the light and the dark theme, wide and narrow. Without paths, the pages that
can be opened cold are taken.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser.chromium import launch_chromium, wait_until_drawn

COLD_PATHS = ("", "matrix", "run", "compare", "new")
WIDTHS = (1440, 420)
THEMES = ("light", "dark")


def main(arguments: Sequence[str]) -> int:
    address, folder, *paths = arguments
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = launch_chromium(playwright)
        for theme in THEMES:
            for width in WIDTHS:
                for path in paths or COLD_PATHS:
                    take(browser, f"{address}/{path.lstrip('/')}", target, theme=theme, width=width)
        browser.close()
    return 0


def take(
    browser: Browser, url: str, folder: Path, *, theme: str, width: int, height: int = 1000
) -> Path:
    """One picture of the whole page; it is named after page, theme and width."""
    scheme = "dark" if theme == "dark" else "light"
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    try:
        page.goto(url)
        wait_until_drawn(page)
        tall = page.evaluate(
            "() => { const m = document.querySelector('[data-testid=stMain]');"
            " return Math.max(m.scrollHeight, m.firstElementChild.scrollHeight) }"
        )
        page.set_viewport_size({"width": width, "height": max(height, int(tall) + 10)})
        page.wait_for_timeout(700)
        name = url.split("//", 1)[1].partition("/")[2].partition("?")[0] or "campaigns"
        target = folder / f"{name}-{theme}-{width}.png"
        page.screenshot(path=str(target))
    finally:
        page.close()
    return target


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
