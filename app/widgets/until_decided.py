"""The choice to add block after block until a campaign is decided, and what that amounts to."""

from collections.abc import Sequence

import streamlit as st

from app.markdown_text import plain
from app.plan_standing import PlanStanding, why_nothing_is_open
from app.wording import counted_noun, span_text
from db.reads.campaigns import VerdictFacts
from runner.campaign.campaign import Campaign
from runner.campaign.file_shape import MAX_BLOCKS
from runner.campaign.matrix import expand_arms
from runner.campaign.until_decided import MOST_BLOCKS, why_not_until_decided
from runner.evidence.wording import duration_text

_HELP = (
    "Adds one block after the other until no registered hypothesis is inconclusive for want of "
    "runs. Only a campaign with stop: decided may be looked at so often."
)


def choose_most_blocks(
    campaign: Campaign,
    *,
    blocks: int,
    verdicts: Sequence[VerdictFacts] = (),
    last: int | None = None,
) -> int | None:
    """How many blocks there may be in all; None where it is not wanted, or cannot be, and why.

    `blocks`: how many there are or would be without. `last`: what was chosen the last time.
    """
    why_not = why_not_until_decided(campaign) or why_nothing_is_open(verdicts)
    if why_not is None and blocks >= MAX_BLOCKS:
        why_not = f"A campaign has at most {MAX_BLOCKS:,} blocks"
    wanted = st.checkbox(
        "Until decided",
        value=last is not None and why_not is None,
        disabled=why_not is not None,
        key=f"until decided {campaign.name}",
        help=_HELP,
    )
    if why_not is not None:
        st.caption(plain(f"{why_not}.", limit=400))
        return None
    if not wanted:
        return None
    most = st.number_input(
        "Blocks at most, in all",
        min_value=blocks + 1,
        max_value=MAX_BLOCKS,
        value=max(blocks + 1, last or MOST_BLOCKS),
        step=1,
        key=f"most blocks {campaign.name} {blocks}",
    )
    return int(most)


def show_most(campaign: Campaign, standing: PlanStanding, seconds: float) -> None:
    """`standing`: of the plan with all the blocks that there may be."""
    sessions = span_text([arm.sessions for arm in expand_arms(campaign)])
    st.markdown(
        f"One block after the other, {sessions} more sessions per arm each, until no hypothesis "
        f"is open. At most {counted_noun(standing.runs_missing, 'more run')}, "
        f"{counted_noun(standing.sessions_missing, 'session')}, about {duration_text(seconds)}."
    )
    st.caption("What is not decided by then stays inconclusive, and the queue says so.")
