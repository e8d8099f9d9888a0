"""Whether wedges and corruption of a campaign come together, in the words of the evidence."""

import streamlit as st

from app.markdown_text import plain
from app.widgets.panel_title import panel_title


def show_linkage(lines: list[str]) -> None:
    """Nothing where there is nothing to say."""
    if not lines:
        return
    with st.container(border=True, gap="xsmall"):
        panel_title("Are wedges and corruption linked?")
        for line in lines:
            st.markdown(plain(line, limit=1000))
