"""Where the dialogues that two runs or arms both played part first, in sentences."""

from collections.abc import Sequence

import streamlit as st

from app import reads_cache
from app.widgets.compare_parts import Compared
from app.widgets.panel_title import panel_title
from app.wording import counted_noun
from db.reads.runs import RunCounts
from db.vocabulary import RunState

_MOST_RUNS = 20


def show_divergence(a: Compared, b: Compared) -> None:
    every = _counting(a.runs)
    lines = reads_cache.divergence_lines(
        every[-_MOST_RUNS:],
        b.runs,
        again=[run for run in b.board.runs if run.arm_id == b.arm.id],
        corrupt=a.board.campaign.corrupt_outcomes,
    )
    with st.container(border=True, gap="xsmall"):
        panel_title("First divergence: the same dialogues, answer by answer")
        for line in lines:
            st.text(line)
        if len(every) > _MOST_RUNS:
            st.caption(f"In the last {_MOST_RUNS} of {counted_noun(len(every), 'run')} of A.")


def _counting(runs: Sequence[RunCounts]) -> list[RunCounts]:
    """The finished ones, of which there may be none yet."""
    return [run for run in runs if run.run_state is RunState.DONE] or list(runs)
