"""Rules of the dashboard's own code, read from its source."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.launch import MAIN_SCRIPT

APP = MAIN_SCRIPT.parent
SOURCES = sorted(APP.rglob("*.py"))
# A report is shown by a `data:` address, which has no origin and no way into the page around it.
OF_FOREIGN_ORIGIN = frozenset({"report_parts.py"})
PANEL_TITLE = APP / "widgets" / "panel_title.py"
OUR_STYLE = ("brand.py", "st.html(_FOCUS_STYLE)")  # a file in this folder


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_nothing_is_drawn_as_html(path: Path) -> None:
    for name, call in calls(path):
        assert name != "components.html"
        assert name != "st.html" or (path.name, ast.unparse(call)) == OUR_STYLE
        assert name != "st.iframe" or path.name in OF_FOREIGN_ORIGIN
        assert "unsafe_allow_html" not in [keyword.arg for keyword in call.keywords]


@pytest.mark.parametrize("path", sorted((APP / "screens").glob("*.py")), ids=lambda path: path.name)
def test_a_page_is_short(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= 150


def test_titles_of_panels_are_no_stops_of_the_tab_key() -> None:
    """A heading in Markdown brings a link to itself, unless told not to."""
    written = [path.name for path in SOURCES if '"#####' in path.read_text("utf-8")]
    (call,) = [call for name, call in calls(PANEL_TITLE) if name == "st.markdown"]
    options = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}

    assert written == [PANEL_TITLE.name]
    assert options["anchors"] == "False"


def test_caches_lie_in_one_file() -> None:
    cached = {
        path.name
        for path in SOURCES
        if "cache_data" in path.read_text("utf-8") or "cache_resource" in path.read_text("utf-8")
    }

    assert cached == {"kept_answers.py"}


def test_pages_send_no_sql() -> None:
    senders = [
        path.name
        for path in SOURCES
        if path.name not in ("kept_answers.py", "records.py")
        and "sqlalchemy" in {n.split(".")[0] for n in imports(path)}
    ]

    assert senders == []


def test_what_is_computed_knows_no_streamlit() -> None:
    pure = [path for path in APP.glob("*.py") if "streamlit" not in imports(path)]

    assert {path.name for path in pure} >= {
        "campaign_progress.py",
        "cell_reading.py",
        "fairness.py",
        "heat_cells.py",
        "leak_marking.py",
        "links.py",
        "markdown_text.py",
        "metric_series.py",
        "palette.py",
        "proof_rows.py",
        "run_clock.py",
        "session_events.py",
        "turn_view.py",
        "wording.py",
    }


def test_a_fragment_that_polls_holds_no_widget() -> None:
    polling = ast.parse((APP / "widgets" / "polling.py").read_text("utf-8"))
    used = {ast.unparse(node.func) for node in ast.walk(polling) if isinstance(node, ast.Call)}

    assert used & {"st.fragment"} == {"st.fragment"}
    assert [path.name for path in SOURCES if "st.fragment" in path.read_text("utf-8")] == [
        "polling.py"
    ]
