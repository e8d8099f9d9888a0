"""A Chromium for tests and pictures, and a dashboard process to point it at."""

import os
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from playwright.sync_api import Browser, Page, Playwright

from app.launch import dashboard_command

CHROMIUM = Path("/usr/bin/chromium")
PATIENCE_MS = 120_000
"""A busy machine may take long over a page; nothing here measures time."""

ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_ROOT = Path(__file__).resolve().parents[2]


def launch_chromium(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(executable_path=str(CHROMIUM), args=list(ARGUMENTS))


@contextmanager
def dashboard(store: Path, configs: Path) -> Iterator[str]:
    """The address of a dashboard that reads this store; its process is ended by its id."""
    port = _free_port()
    environment = os.environ | {
        "DECISIVE_STORE": f"sqlite:///{store}",
        "DECISIVE_CONFIGS": str(configs),
        "PYTHONPATH": str(_ROOT),
    }
    address = f"http://127.0.0.1:{port}"
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            dashboard_command(port), env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            _wait_until_up(address, process, log)
            yield address
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def wait_until_drawn(page: Page) -> None:
    """Until the script of the page has run to its end and every skeleton is gone."""
    page.wait_for_selector("[data-testid=stApp]", timeout=PATIENCE_MS)
    page.wait_for_function(
        """() => {
            const app = document.querySelector('[data-testid=stApp]');
            const all = (selector) => document.querySelectorAll(selector);
            const running = !app || app.getAttribute('data-test-script-state') === 'running';
            const blank = all('[data-testid=stSkeleton], [data-testid=stAppSkeleton]').length;
            const drawn = all('[data-testid=stMain] [data-testid=stElementContainer]').length;
            const charts = all('[data-testid=stPlotlyChart]').length;
            const pictures = all('[data-testid=stPlotlyChart] .main-svg').length;
            const settled = !running && !blank && drawn > 0 && pictures >= charts;
            const now = Date.now();
            if (!settled) { window.__settledSince = null; return false; }
            window.__settledSince = window.__settledSince || now;
            return now - window.__settledSince > 700;
        }""",
        timeout=PATIENCE_MS,
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_up(
    address: str, process: subprocess.Popen[bytes], log: IO[bytes], *, within_s: float = 120
) -> None:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if process.poll() is not None:
            log.seek(0)
            raise RuntimeError(f"The dashboard ended at its start: {log.read().decode()}")
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError(f"The dashboard at {address} did not answer within {within_s} s")
