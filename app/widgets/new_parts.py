"""Parts of the page that queues a campaign: the choices, what they amount to, and the button."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from app.errors import UnreadableStoreError
from app.links import CampaignsPlace, NewPlace, OverviewPlace
from app.markdown_text import plain
from app.plan_standing import PlanStanding
from app.widgets.launch_desk import queue_campaign
from app.widgets.navigation import go_to, link_to, stay_at
from app.widgets.panel_title import panel_title
from app.wording import counted_noun, levels_text
from runner.campaign.campaign import CONCURRENCY, Campaign
from runner.campaign.file_shape import MAX_BLOCKS, LevelValue, level_text
from runner.campaign.plan import Plan
from runner.evidence.wording import count_text, duration_text


def choose_file(names: Sequence[str], named: str | None) -> str:
    """The file of the address, else the first; a change goes into the address."""
    current = named if named is not None and named in names else names[0]
    key = f"campaign file {current}"

    def remember() -> None:
        stay_at(NewPlace(file=st.session_state[key]))

    st.selectbox("Campaign file", names, index=names.index(current), key=key, on_change=remember)
    return current


def choose_levels(campaign: Campaign) -> dict[str, list[LevelValue]]:
    """The levels of each factor that are to run; only levels that the file lists are offered."""
    chosen: dict[str, list[LevelValue]] = {}
    for factor, declared in campaign.factors.items():
        picked = st.multiselect(
            factor,
            list(declared),
            default=list(declared),
            format_func=level_text,
            key=f"levels {campaign.name} {factor}",
        )
        if len(picked) < len(declared):
            chosen[factor] = picked
    return chosen


def choose_seed(campaign: Campaign) -> int | None:
    """Another order of the runs inside each block; None keeps the file's."""
    default = campaign.schedule.order_seed
    seed = st.number_input(
        "Order seed",
        min_value=0,
        value=default,
        step=1,
        key=f"seed {campaign.name}",
        help="Shuffles the runs inside each block. The same seed gives the same order again.",
    )
    return None if seed is None or seed == default else int(seed)


def choose_blocks(campaign: Campaign) -> int | None:
    """How many blocks in all; None keeps the file's."""
    default = campaign.schedule.blocks
    blocks = st.number_input(
        "Blocks",
        min_value=1,
        max_value=MAX_BLOCKS,
        value=default,
        step=1,
        key=f"blocks {campaign.name}",
        help="Passes over all arms. More blocks than before extend a campaign that is stored.",
    )
    return None if blocks is None or blocks == default else int(blocks)


def show_answers(lines: Sequence[str], sentence: str) -> None:
    """What the plan can tell apart, worked out before anything is queued."""
    with st.container(border=True, gap="xsmall"):
        panel_title("What this plan can answer")
        if not lines:
            st.caption("It claims nothing, so that nothing is to be answered.")
            return
        st.markdown(plain(sentence, limit=600))
        st.code("\n".join(lines), language=None, wrap_lines=True)


def show_standing(standing: PlanStanding, *, blocks: int, most_blocks: int | None) -> None:
    """Whether it is new, goes on with what is stored, or would do nothing."""
    said = plain(standing.sentence)
    if standing.runs_nothing and most_blocks is not None:
        done = counted_noun(standing.runs, "run")
        st.markdown(f":gray[:material/info:] Its {done} are done; further blocks are added.")
    elif standing.runs_nothing:
        st.warning(said, title="Nothing is missing", icon=":material/done_all:")
    else:
        st.markdown(f":gray[:material/info:] {said}")
    if standing.campaign_id is not None:
        place = OverviewPlace(campaign=standing.campaign_id)
        link_to(place, "The campaign as it stands", icon=":material/dashboard:")
    if standing.extends(blocks) and not standing.runs_nothing:
        st.caption(
            f"Extends it from {standing.blocks_before} to {blocks} blocks. Where the number of "
            "runs was fixed, its verdicts will say so."
        )


def show_plan(plan: Plan, *, is_beginning: bool = False) -> None:
    """`is_beginning` where further blocks may follow: these numbers are not all."""
    at_first = " at first" if is_beginning else ""
    with st.container(border=True, gap="small"):
        panel_title(plain(plan.campaign.name))
        st.markdown(f":gray[Question] {plain(plan.campaign.question)}")
        with st.container(horizontal=True, gap="small"):
            for label, value in (
                ("Arms", count_text(len(plan.arms))),
                (f"Runs{at_first}", count_text(len(plan.runs))),
                (f"Sessions{at_first}", count_text(plan.sessions)),
                ("About, at first" if is_beginning else "About", duration_text(plan.seconds)),
            ):
                st.metric(label, value, border=True, width=150)
        starts = plan.starts_text()
        st.caption(
            f"{starts[:1].upper()}{starts[1:]}. Time estimated from: "
            + plain("; ".join(plan.assumptions))
        )
        for warning in plan.warnings:
            st.warning(plain(f"{warning[:1].upper()}{warning[1:]}.", limit=600))
        st.table(_arm_rows(plan), border="horizontal", hide_index=True)
        if plan.campaign.hypotheses:
            st.table(_hypothesis_rows(plan), border="horizontal", hide_index=True)


def queue_button(
    file_name: str,
    *,
    levels: Mapping[str, Sequence[LevelValue]],
    order_seed: int | None,
    blocks: int | None,
    most_blocks: int | None,
    standing: PlanStanding,
) -> None:
    label = f"Queue {counted_noun(standing.sessions_missing, 'session')}"
    if most_blocks is not None:
        label = "Queue until decided"
    is_nothing = standing.runs_nothing and most_blocks is None
    if not st.button(label, type="primary", icon=":material/play_arrow:", disabled=is_nothing):
        return
    try:
        queue_campaign(
            file_name,
            levels=levels,
            order_seed=order_seed,
            blocks=blocks,
            most_blocks=most_blocks,
            campaign_id=standing.campaign_id,
        )
    except UnreadableStoreError as error:
        st.error(plain(str(error)), title="It could not be queued")
        return
    go_to(CampaignsPlace())


def _hypothesis_rows(plan: Plan) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "hypothesis": plain(hypothesis.id),
                "claim": plain(hypothesis.claim),
                "predicted": plain(str(hypothesis.predict)),
            }
            for hypothesis in plan.campaign.hypotheses
        ]
    )


def _arm_rows(plan: Plan) -> pd.DataFrame:
    blocks = plan.campaign.schedule.blocks
    return pd.DataFrame(
        [
            {
                "arm": plain(arm.name) + (f" {plain(arm.tag)}" if arm.tag else ""),
                "levels": plain(levels_text(arm.levels, without=[CONCURRENCY])),
                "C": str(arm.concurrency),
                "sessions": f"{blocks} × {arm.sessions}",
                "": "baseline" if arm.is_baseline else "",
            }
            for arm in plan.arms
        ]
    )
