"""A button that hands over recorded bytes; they are read when it is pressed, not before."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from app import reads_cache
from app.wording import bytes_text
from db.reads.observations import RawFacts


def raw_button(pieces: Sequence[RawFacts], label: str, *, file_name: str) -> None:
    """All pieces behind one another; `label` is Markdown and gets the size, and if it was cut."""
    cut = ", cut at the limit" if any(piece.is_capped for piece in pieces) else ""
    size = sum(piece.size_bytes for piece in pieces)
    ids = [piece.id for piece in pieces]
    st.download_button(
        f"{label} ({bytes_text(size)}{cut})",
        data=partial(reads_cache.raw_bytes, ids),
        file_name=file_name,
        mime="application/octet-stream",
        icon=":material/download:",
        key=f"raw {ids[0]}",
        on_click="ignore",
        type="tertiary",
    )
