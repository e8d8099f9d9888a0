"""A button that hands over recorded bytes; they are read when it is pressed, not before."""

from functools import partial

import streamlit as st

from app import reads_cache
from app.wording import bytes_text
from db.reads.observations import RawFacts


def raw_button(piece: RawFacts, label: str, *, file_name: str) -> None:
    """`label` is Markdown; the size stands behind it, and whether the record was cut."""
    cut = ", cut at the limit" if piece.is_capped else ""
    st.download_button(
        f"{label} ({bytes_text(piece.size_bytes)}{cut})",
        data=partial(reads_cache.raw_bytes, piece.id),
        file_name=file_name,
        mime="application/octet-stream",
        icon=":material/download:",
        key=f"raw {piece.id}",
        on_click="ignore",
        type="tertiary",
    )
