"""The heading of a panel."""

import streamlit as st


def panel_title(words: str, *, fits: bool = False) -> None:
    """`words` is Markdown. `fits`: as wide as its words, beside something else.

    Without an anchor: its link would be one more stop of the Tab key at every panel.
    """
    st.markdown(f"##### {words}", width="content" if fits else "stretch", anchors=False)
