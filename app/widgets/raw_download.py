"""A button that hands over recorded bytes; they are read when it is pressed, not before."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from app import reads_cache
from app.wording import bytes_text
from db.reads.observations import RawFacts


def raw_button(pieces: Sequence[RawFacts], label: str, *, file_name: str) -> None:
    """All pieces behind one another; `label` is Markdown and gets the size, and if it was cut."""
    _button(
        [piece.id for piece in pieces],
        label,
        size_bytes=sum(piece.size_bytes for piece in pieces),
        is_capped=any(piece.is_capped for piece in pieces),
        file_name=file_name,
    )


def bytes_button(
    raw_id: int, label: str, *, size_bytes: int, is_capped: bool, file_name: str
) -> None:
    """One recorded piece by its id."""
    _button([raw_id], label, size_bytes=size_bytes, is_capped=is_capped, file_name=file_name)


def _button(
    raw_ids: Sequence[int], label: str, *, size_bytes: int, is_capped: bool, file_name: str
) -> None:
    cut = ", cut at the limit" if is_capped else ""
    st.download_button(
        f"{label} ({bytes_text(size_bytes)}{cut})",
        data=partial(reads_cache.raw_bytes, list(raw_ids)),
        file_name=file_name,
        mime="application/octet-stream",
        icon=":material/download:",
        key=f"raw {raw_ids[0]}",
        on_click="ignore",
        type="tertiary",
    )
