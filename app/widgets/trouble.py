"""What a page says when it cannot show what was asked for: what happened, and one next step."""

import logging
import traceback

import streamlit as st

from app.errors import (
    AppError,
    NoConfigsError,
    NoStoreError,
    StoreGoneError,
    UnknownIdError,
    UnreadableStoreError,
)
from app.kept_answers import reading
from app.links import CampaignsPlace
from app.markdown_text import plain
from app.settings import read_settings
from app.widgets.navigation import link_to
from app.widgets.polling import redraw_on_change, standing

_LOG = logging.getLogger("decisive.dashboard")


def show_trouble(error: AppError) -> None:
    """The page for an error that was foreseen."""
    if isinstance(error, StoreGoneError):
        _show_store_gone(error)
    elif isinstance(error, NoStoreError):
        _show_no_store(error)
    elif isinstance(error, UnreadableStoreError):
        st.error(plain(str(error)), title="This store cannot be read", icon=":material/database:")
        st.caption(f"Store: {plain(_where())}")
    elif isinstance(error, UnknownIdError):
        st.warning(plain(str(error)), title="Nothing here", icon=":material/search_off:")
        st.caption("The link may come from another store, or the store was replaced.")
        link_to(CampaignsPlace(), "All campaigns", icon=":material/folder_open:")
    elif isinstance(error, NoConfigsError):
        st.warning(plain(str(error)), title="No campaign files", icon=":material/folder_off:")
    else:
        st.error(plain(str(error)))


def show_failure(error: Exception) -> None:
    """The page for an error that was not foreseen: the sentence here, the traceback in the log."""
    _LOG.error("A page failed", exc_info=error)
    st.error(
        "This is a fault of the dashboard, not of the campaign. Nothing recorded is affected; "
        "the log of the dashboard has the details.",
        title="This page could not be drawn",
        icon=":material/build:",
    )
    last = traceback.extract_tb(error.__traceback__)[-1]
    st.caption(f"{type(error).__name__} in {plain(last.name)}, line {last.lineno}")


def _show_no_store(error: NoStoreError) -> None:
    st.info(
        "Nothing was recorded yet. The page fills by itself as soon as a worker writes the first "
        "run: `decisive up`, `decisive worker` and `decisive run` all do.",
        title="Waiting for the first run",
        icon=":material/hourglass_empty:",
    )
    st.caption(f"Store: {plain(_where())} · {plain(str(error))}")


def _show_store_gone(error: StoreGoneError) -> None:
    st.warning(
        "It was here, and was moved, renamed or deleted since, or its disk is away. Put it back, "
        "and the page goes on by itself; a worker started now begins a new and empty one.",
        title="The store is gone",
        icon=":material/database_off:",
    )
    st.caption(f"Store: {plain(_where())} · {plain(str(error))}")


def _where() -> str:
    return read_settings().store_url


def store_state() -> str:
    """A token that changes when a store appears, vanishes, or can be read again."""
    with reading():
        return "readable"


def wait_for_store() -> None:
    redraw_on_change(store_state, seen=standing(store_state), every_s=1.0)
