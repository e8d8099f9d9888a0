"""Parts of the page that queues a campaign: the choices, what they amount to, and the button."""

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from app.errors import UnreadableStoreError
from app.links import CampaignsPlace, NewPlace
from app.markdown_text import plain
from app.widgets.launch_desk import queue_campaign
from app.widgets.navigation import go_to, stay_at
from app.wording import counted_noun, levels_text
from runner.campaign.campaign import CONCURRENCY, Campaign
from runner.campaign.file_shape import LevelValue, level_text
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


def show_plan(plan: Plan) -> None:
    with st.container(border=True, gap="small"):
        st.markdown(f"##### {plain(plan.campaign.name)}")
        st.markdown(f":gray[Question] {plain(plan.campaign.question)}")
        with st.container(horizontal=True, gap="small"):
            for label, value in (
                ("Arms", count_text(len(plan.arms))),
                ("Runs", count_text(len(plan.runs))),
                ("Sessions", count_text(plan.sessions)),
                ("About", duration_text(plan.seconds)),
            ):
                st.metric(label, value, border=True, width=150)
        st.caption(
            f"{counted_noun(plan.launches, 'start')} of the servers. Time estimated from: "
            + plain("; ".join(plan.assumptions))
        )
        st.table(_arm_rows(plan), border="horizontal", hide_index=True)
        if plan.campaign.hypotheses:
            st.table(_hypothesis_rows(plan), border="horizontal", hide_index=True)


def queue_button(
    file_name: str,
    *,
    levels: Mapping[str, Sequence[LevelValue]],
    order_seed: int | None,
    sessions: int,
) -> None:
    label = f"Queue {counted_noun(sessions, 'session')}"
    if not st.button(label, type="primary", icon=":material/play_arrow:"):
        return
    try:
        queue_campaign(file_name, levels=levels, order_seed=order_seed)
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
