"""Pages that have nothing to show yet: why, and the one next step."""

import streamlit as st

from app.errors import AppError
from app.links import NewPlace
from app.reads_cache import campaign_list
from app.widgets.navigation import link_to
from app.widgets.panel_title import panel_title
from app.widgets.polling import redraw_on_change


def show_no_campaigns() -> None:
    """The store is there and holds no campaign; the page redraws itself when one appears."""
    with st.container(border=True, gap="small"):
        panel_title("No campaign yet")
        st.markdown(
            "A campaign appears here when a worker begins it. Queue one of the files on this "
            "server, or start one at a terminal with `decisive run FILE`."
        )
        link_to(NewPlace(), "Choose a campaign file", icon=":material/add:")
    redraw_on_change(_campaign_count, seen=0, every_s=2.0)


def show_no_runs(sentence: str) -> None:
    with st.container(border=True, gap="small"):
        panel_title("No run to show")
        st.markdown(sentence)


def _campaign_count() -> int:
    try:
        return len(campaign_list())
    except AppError:
        return -1
