"""How long pages take on a small store and on one a hundred times as large.

    python -m tests.bench.pages_at_scale [--runs 1250] [--times 3] [--folder DIR]

Each page is opened cold, caches emptied, then drawn again; medians. It counts CPU time, which other
programs on the machine bend least, and what matters is the ratio of the two stores.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from streamlit.testing.v1 import AppTest

from app.kept_answers import forget_answers
from app.launch import MAIN_SCRIPT
from app.settings import CONFIGS_VARIABLE, STORE_VARIABLE
from tests.bench.large_store import Size, fill_store

CONFIGS = Path(__file__).parents[2] / "configs"


class Page(NamedTuple):
    """`parameters` are written for the last run of a store, where its turns are."""

    path: str
    parameters: dict[str, str]


class Took(NamedTuple):
    first_s: float
    again_s: float


def pages(size: Size) -> list[Page]:
    session = size.sessions - size.sessions_a_run + 1
    return [
        Page("campaigns", {}),
        Page("overview", {"campaign": "c-1"}),
        Page("matrix", {"campaign": "c-1", "arm": "a-16"}),
        Page("matrix", {"campaign": "c-1", "metric": "ttft"}),
        Page("arm", {"arm": "a-16"}),
        Page("verdicts", {"hypothesis": "h-1"}),
        Page("run", {"run": f"r-{size.runs}"}),
        Page("session", {"session": f"s-{session}"}),
        Page("sessions", {"campaign": "c-1", "q": "outcome:leak"}),
        Page("sessions", {"campaign": "c-1", "q": '"never said"'}),
        Page("compare", {"a": f"r-{size.runs}", "b": f"r-{size.runs - 1}"}),
        Page("compare", {"a": "a-1", "b": "a-16"}),
        Page("logs", {"run": f"r-{size.runs}"}),
        Page("system", {}),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--runs", type=int, default=1250, help="of the large store, 80 sessions each"
    )
    parser.add_argument("--times", type=int, default=3, help="how often each page is opened")
    parser.add_argument("--folder", type=Path, default=None, help="where the stores are kept")
    options = parser.parse_args(arguments)
    os.environ[CONFIGS_VARIABLE] = str(CONFIGS)
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        sizes = [Size(max(16, options.runs // 100)), Size(options.runs)]
        stores = [_store(folder, size) for size in sizes]
        tell(f"{sizes[0].sessions:,} and {sizes[1].sessions:,} sessions")
        tell(f"{'page':34}{'small':>9}{'large':>9}{'ratio':>7}{'again':>9}{'ratio':>7}")
        for small, large in zip(pages(sizes[0]), pages(sizes[1]), strict=True):
            _say(
                large,
                _measure(stores[0], small, times=options.times),
                _measure(stores[1], large, times=options.times),
            )
    return 0


def _store(folder: Path, size: Size) -> Path:
    path = folder / f"pages-{size.runs}.db"
    if not path.exists():
        fill_store(path, size)
    return path


def _measure(store: Path, page: Page, *, times: int) -> Took:
    os.environ[STORE_VARIABLE] = f"sqlite:///{store}"
    first, again = [], []
    for _ in range(times):
        forget_answers()
        opened = AppTest.from_file(str(MAIN_SCRIPT), default_timeout=120)
        for name, value in page.parameters.items():
            opened.query_params[name] = value
        opened.switch_page(f"screens/{page.path}.py")
        first.append(_seconds(opened.run))
        if opened.exception:
            raise RuntimeError(f"{page.path} failed: {opened.exception[0].message}")
        again.append(_seconds(opened.run))
    return Took(statistics.median(first), statistics.median(again))


def _seconds(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _say(page: Page, small: Took, large: Took) -> None:
    shown = [page.parameters[name] for name in ("metric", "q", "a") if name in page.parameters]
    name = " ".join([page.path, *shown])
    tell(
        f"{name:34}{small.first_s:8.2f}s{large.first_s:8.2f}s{large.first_s / small.first_s:7.2f}"
        f"{large.again_s:8.2f}s{large.again_s / small.again_s:7.2f}"
    )


if __name__ == "__main__":
    sys.exit(main())
