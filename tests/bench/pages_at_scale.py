"""How long pages take on a store of 2,000 runs, and on one a hundred times smaller.

    python -m tests.bench.pages_at_scale [--growth campaigns|runs|gate] [--copies 100] [--times 3]
        [--folder DIR] [--page NAME]

The large store holds a million sessions and ten million log events; filling it takes some minutes
and 3 GB of disk, which `--folder` keeps for the next time. It is large in three ways, one after the
other: a hundred campaigns of twenty runs, one campaign of two thousand, and two thousand campaigns
of one run, as a gate leaves them that runs every night. The small store is a hundredth of it: one
campaign of twenty runs, of a gate twenty of one. The list of campaigns of a store of many is held
against those twenty, so that both show as many rows.

Each page is opened cold, with caches emptied, in an app that has drawn it before; then it is drawn
again, after what it keeps for a second only is gone; medians. It counts CPU time, which other
programs on the machine bend least, and what matters is the ratio of the two stores.

Ends with status 1 where the default view of a page takes more than one and a half times as long on
the large store, where a page sends more than 5 MB, or where a table has more than 200 rows.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import streamlit as st
from streamlit.logger import set_log_level
from streamlit.testing.v1 import AppTest, app_test
from streamlit.testing.v1.element_tree import ElementTree
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from app.kept_answers import ANSWERS_LIVE_S, forget_answers
from app.launch import MAIN_SCRIPT
from app.settings import CONFIGS_VARIABLE, STORE_VARIABLE
from db.store import open_store
from tests.bench.large_store import Growth, Size, fill_store, gate_size

CONFIGS = Path(__file__).parents[2] / "configs"
MOST_RATIO = 1.5
MOST_BYTES = 5_000_000
MOST_ROWS = 200
LONGEST_S = 300
LIST_PATH = "campaigns"


class Page(NamedTuple):
    """A view; `is_default` where it is what the page shows unasked."""

    name: str
    path: str
    parameters: Mapping[str, str] = MappingProxyType({})
    is_default: bool = True


class Took(NamedTuple):
    first_s: float
    again_s: float
    sent_bytes: int
    rows: int


class Compared(NamedTuple):
    """One page on both stores."""

    page: Page
    small: Took
    large: Took

    @property
    def ratios(self) -> tuple[float, float]:
        """Opened cold, and drawn again."""
        small, large = self.small, self.large
        return large.first_s / small.first_s, large.again_s / small.again_s


class CountingRunner(LocalScriptRunner):
    """Counts what is sent to the browser, to which AppTest has no way of its own."""

    sent_bytes = 0
    """Of the last page that was drawn."""

    def run(self, *arguments: Any, **options: Any) -> ElementTree:
        tree = super().run(*arguments, **options)
        CountingRunner.sent_bytes = sum(message.ByteSize() for message in self.forward_msgs())
        return tree


def pages(size: Size) -> list[Page]:
    """Each of the newest campaign, run or session: the last rows of the store."""
    other_arm, arm = size.newest_arms
    words = '"one moment" -flag:none'
    return [
        Page("Campaigns", LIST_PATH),
        Page("Overview", "overview"),
        Page("Matrix", "matrix"),
        Page("Arm", "arm", {"arm": f"a-{arm}"}),
        Page("Run", "run"),
        Page("Session", "session", {"session": f"s-{size.all_sessions}"}),
        Page("Sessions", "sessions"),
        Page("Logs", "logs"),
        Page("Compare", "compare"),
        Page("Verdicts", "verdicts"),
        Page("New", "new"),
        Page("Report", "report"),
        Page("System", "system"),
        Page("a cell", "matrix", {"arm": f"a-{arm}"}, is_default=False),
        Page("TTFT p99 by arm", "matrix", {"metric": "ttft"}, is_default=False),
        Page("a verdict", "verdicts", {"hypothesis": f"h-{size.campaigns}"}, is_default=False),
        Page("two arms", "compare", {"a": f"a-{other_arm}", "b": f"a-{arm}"}, is_default=False),
        Page("sessions by outcome", "sessions", {"q": "outcome:leak"}, is_default=False),
        Page("sessions by words found", "sessions", {"q": words}, is_default=False),
        Page("sessions by words not there", "sessions", {"q": '"never said"'}, is_default=False),
        Page("log by words", "logs", {"q": '"rid=1"'}, is_default=False),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--growth", choices=[name.lower() for name in Growth.__members__])
    parser.add_argument("--copies", type=int, default=100, help="how much larger the large one is")
    parser.add_argument("--times", type=int, default=3, help="how often each page is opened")
    parser.add_argument("--folder", type=Path, default=None, help="where the stores are kept")
    parser.add_argument("--page", default="", help="only views whose name contains this")
    options = parser.parse_args(arguments)
    os.environ[CONFIGS_VARIABLE] = str(CONFIGS)
    app_test.LocalScriptRunner = CountingRunner  # type: ignore[attr-defined]
    set_log_level("ERROR")  # it warns of every page that no browser asked for
    growths = [Growth[options.growth.upper()]] if options.growth else list(Growth)
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.folder or Path(scratch)
        for growth in growths:
            sizes = sizes_of(growth, options.copies)
            faults += _compare(folder, sizes, times=options.times, only=options.page)
    for fault in faults:
        tell(fault)
    return 1 if faults else 0


def sizes_of(growth: Growth, copies: int) -> tuple[Size, Size]:
    """The small store and the large one."""
    if growth is Growth.GATE:
        return gate_size(1), gate_size(copies)
    return Size(), Size(copies=copies, growth=growth)


def _compare(folder: Path, sizes: tuple[Size, Size], *, times: int, only: str) -> list[str]:
    """What was measured as a table in Markdown; returns what is wrong with it."""
    stores = [_store(folder, size) for size in sizes]
    tell(f"\n{_words(sizes[0])}; {_words(sizes[1])}, {sizes[1].growth}\n")
    tell(
        "| view | cold, small | cold, large | ratio | again, small | again, large | ratio | sent |"
    )
    tell("|---|---|---|---|---|---|---|---|")
    faults = []
    for pair in zip(pages(sizes[0]), pages(sizes[1]), strict=True):
        if only.lower() not in pair[0].name.lower():
            continue
        held = stores
        if pair[0].path == LIST_PATH and sizes[1].growth is not Growth.RUNS:
            held = [_store(folder, gate_size(1)), stores[1]]  # as many rows, of as many runs
        _open(held[0], pair[0])  # imports are no part of a page in a running app
        small, large = _measure(held, pair, times=times)
        compared = Compared(pair[1], small, large)
        _say(compared)
        faults += [f"{sizes[1].growth}: {fault}" for fault in _faults(compared)]
    return faults


def _words(size: Size) -> str:
    runs, sessions, events = size.all_runs, size.all_sessions, size.all_log_events
    return f"{runs:,} runs, {sessions:,} sessions, {events:,} log events"


def _store(folder: Path, size: Size) -> Path:
    path = folder / f"pages-{size.copies}-{size.growth.name.lower()}.db"
    if not path.exists():
        began = time.monotonic()
        being_filled = path.with_suffix(".part")
        being_filled.unlink(missing_ok=True)
        fill_store(being_filled, size)
        being_filled.rename(path)
        tell(f"Filled {path.name} in {time.monotonic() - began:.0f} s.")
    with open_store(f"sqlite:///{path}"):  # one that was kept may be of an older schema
        return path


def _measure(stores: Sequence[Path], views: tuple[Page, Page], *, times: int) -> tuple[Took, Took]:
    """In turns, so that what else the machine does bends both."""
    both = [(_open(stores[0], views[0]), _open(stores[1], views[1])) for _ in range(times)]
    small, large = zip(*both, strict=True)
    return _median(small), _median(large)


def _median(took: Sequence[Took]) -> Took:
    return Took(
        statistics.median(each.first_s for each in took),
        statistics.median(each.again_s for each in took),
        max(each.sent_bytes for each in took),
        max(each.rows for each in took),
    )


def _open(store: Path, page: Page) -> Took:
    os.environ[STORE_VARIABLE] = f"sqlite:///{store}"
    forget_answers()
    st.cache_data.clear()
    opened = AppTest.from_file(str(MAIN_SCRIPT), default_timeout=LONGEST_S)
    for name, value in page.parameters.items():
        opened.query_params[name] = value
    opened.switch_page(f"screens/{page.path}.py")
    first_s = _seconds(opened.run)
    if opened.exception:
        raise RuntimeError(f"{page.name} failed: {opened.exception[0].message}")
    if not opened.title:  # then it says what is wrong instead
        raise RuntimeError(f"{page.name} shows no page: {[each.value for each in opened.error]}")
    sent_bytes = CountingRunner.sent_bytes
    rows = max((len(table.value) for table in opened.dataframe), default=0)
    time.sleep(ANSWERS_LIVE_S)
    again_s = _seconds(opened.run)
    return Took(first_s, again_s, max(sent_bytes, CountingRunner.sent_bytes), rows)


def _seconds(call: Callable[[], object]) -> float:
    began = time.process_time()
    call()
    return time.process_time() - began


def _faults(compared: Compared) -> Iterable[str]:
    page, large = compared.page, compared.large
    ways = ("opened cold", "drawn again")
    for how, ratio in zip(ways, compared.ratios, strict=True):
        if page.is_default and ratio > MOST_RATIO:
            yield f"{page.name} {how} takes {ratio:.2f} times as long on the large store."
    if large.sent_bytes > MOST_BYTES:
        yield f"{page.name} sends {large.sent_bytes:,} bytes, more than {MOST_BYTES:,}."
    if large.rows > MOST_ROWS:
        yield f"{page.name} has a table of {large.rows:,} rows, more than {MOST_ROWS}."


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _say(compared: Compared) -> None:
    small, large = compared.small, compared.large
    cold, again = compared.ratios
    tell(
        f"| {compared.page.name} | {small.first_s:.2f} s | {large.first_s:.2f} s | {cold:.2f} "
        f"| {small.again_s:.2f} s | {large.again_s:.2f} s | {again:.2f} "
        f"| {large.sent_bytes / 1e3:,.0f} kB |"
    )


if __name__ == "__main__":
    sys.exit(main())
