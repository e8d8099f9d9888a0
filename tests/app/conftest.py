"""A store in a folder of its own, named to the dashboard by the environment as in production."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.kept_answers import forget_answers
from app.launch import MAIN_SCRIPT
from app.settings import CONFIGS_VARIABLE, STORE_VARIABLE
from db.store import Store
from tests.db.fresh_stores import fresh_store

Open = Callable[..., AppTest]


@pytest.fixture
def store_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the dashboard looks; nothing lies there yet."""
    path = tmp_path / "decisive.db"
    monkeypatch.setenv(STORE_VARIABLE, f"sqlite:///{path}")
    monkeypatch.setenv(CONFIGS_VARIABLE, str(Path(__file__).parents[2] / "configs"))
    return path


@pytest.fixture
def store(store_path: Path) -> Iterator[Store]:
    with fresh_store(store_path.parent) as opened:
        yield opened


@pytest.fixture
def open_page(store_path: Path) -> Iterator[Open]:
    """Opens a page cold, as a pasted link does: its path and its parameters."""

    def open_cold(path: str = "", /, **parameters: str) -> AppTest:
        forget_answers()
        page = AppTest.from_file(str(MAIN_SCRIPT), default_timeout=30)
        for name, value in parameters.items():
            page.query_params[name] = value
        if path:
            page.switch_page(f"screens/{path}.py")
        return page.run()

    yield open_cold
    st.cache_data.clear()
    st.cache_resource.clear()


def words_of(page: AppTest) -> str:
    """What a person can read on the page outside tables, without the escapes of Markdown."""
    kinds: Mapping[str, str] = {
        "title": "value",
        "markdown": "value",
        "caption": "value",
        "text": "value",
        "code": "value",
        "error": "value",
        "warning": "value",
        "info": "value",
    }
    parts = [str(element.value) for kind in kinds for element in getattr(page, kind)]
    for kind in ("error", "warning", "info"):
        parts += [str(element.proto.title) for element in getattr(page, kind)]
    parts += [f"{metric.label} {metric.value} {metric.delta}" for metric in page.metric]
    parts += [bar.proto.text for bar in page.get("progress")]
    parts += [expander.label for expander in page.expander]
    parts += [link.proto.label for link in page.get("page_link")]
    return "\n".join(parts).replace("\\", "")
