"""Where the dialogues that two runs or arms both played part first, in sentences."""

import streamlit as st

from app import reads_cache
from app.widgets.compare_parts import Compared


def show_divergence(a: Compared, b: Compared) -> None:
    lines = reads_cache.divergence_lines(
        a.runs,
        b.runs,
        again=[run for run in b.board.runs if run.arm_id == b.arm.id],
        corrupt=a.board.campaign.corrupt_outcomes,
    )
    with st.container(border=True, gap="xsmall"):
        st.markdown("##### First divergence: the same dialogues, answer by answer")
        for line in lines:
            st.text(line)
