"""Free notes of a campaign, as they stand below its pages."""

from collections.abc import Callable

import streamlit as st

from app import reads_cache
from app.errors import UnreadableStoreError
from app.markdown_text import plain
from app.widgets.launch_desk import write_note
from app.widgets.panel_title import panel_title
from runner.evidence.wording import moment_text

_LONG_NOTE = 4000


def show_notes(campaign_id: int, write: Callable[[int, str, str], None] = write_note) -> None:
    """Free notes with author and time; the newest stands first."""
    with st.container(border=True, gap="xsmall"):
        panel_title("Notes")
        for note in reads_cache.notes(campaign_id)[:20]:
            by = plain(note.author) if note.author else "no name"
            st.caption(f"{by} · {moment_text(note.written_at_us)}")
            st.text(note.text)
        with st.form(f"note {campaign_id}", clear_on_submit=True, border=False):
            text = st.text_area("Note", max_chars=_LONG_NOTE, height=68)
            with st.container(horizontal=True, vertical_alignment="bottom"):
                author = st.text_input("Your name", max_chars=80, width=220)
                sent = st.form_submit_button("Add note", icon=":material/add_comment:")
        if sent and text.strip():
            try:
                write(campaign_id, text.strip(), author.strip())
            except UnreadableStoreError as error:
                st.error(plain(str(error)), title="The note could not be stored")
                return
            st.rerun()
        elif sent:
            st.caption("An empty note is not stored.")
