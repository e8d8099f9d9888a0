"""The hypotheses of a campaign: what was predicted, what was judged, why, and what to run next."""

from dataclasses import replace
from functools import partial

import streamlit as st

from app import reads_cache
from app.errors import UnknownIdError
from app.links import VerdictsPlace
from app.markdown_text import plain
from app.stored_verdict import read_verdict
from app.widgets.again_desk import show_next_runs
from app.widgets.campaign_head import campaign_token, progress_now, show_provenance
from app.widgets.campaign_page import open_watched_campaign
from app.widgets.hypothesis_parts import show_both_arms, show_history, show_rule, show_runs_of
from app.widgets.linkage_parts import show_linkage
from app.widgets.navigation import (
    Crumb,
    breadcrumb,
    campaign_crumbs,
    complete_address,
    say_ignored,
)
from app.widgets.notes import show_notes
from app.widgets.polling import IDLE_S, redraw_on_change
from app.widgets.suspect_ledger import show_suspects
from app.widgets.verdict_parts import (
    hypothesis_name,
    show_answers,
    show_headline,
    show_next_steps,
    show_reasons,
    show_verdict_list,
)
from app.wording import headline_badge
from db.identifiers import IdKind, format_id

parsed, board, seen = open_watched_campaign(VerdictsPlace)
place = parsed.place
complete_address(replace(place, campaign=board.campaign.id))
crumbs = campaign_crumbs(board.campaign)
cells = {cell.arm.id: cell for cell in reads_cache.cells(board)}
progress = progress_now(board)
facts = next((v for v in board.verdicts if v.hypothesis_id == place.hypothesis), None)

if facts is None:
    if place.hypothesis is not None:
        name = format_id(IdKind.HYPOTHESIS, place.hypothesis)
        raise UnknownIdError(f"There is no {name} in this campaign.")
    breadcrumb(*crumbs, Crumb("Verdicts"))
    st.title("Verdicts", anchor=False)
    say_ignored(parsed.ignored)
    st.markdown(f":gray[Question] {plain(board.campaign.question)}")
    show_verdict_list(board, progress)
    show_suspects(board, cells)
    show_linkage(reads_cache.linkage(board))
    show_next_runs(board, progress)
else:
    every = VerdictsPlace(campaign=board.campaign.id)
    breadcrumb(*crumbs, Crumb("Verdicts", every), Crumb(hypothesis_name(facts)))
    verdict = read_verdict(facts)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title(plain(facts.claim), width="content", anchor=False)
        if facts.headline:
            st.markdown(headline_badge(facts.headline, is_final=progress.is_final), width="content")
        else:
            st.markdown(":gray-badge[not judged]", width="content")
    say_ignored(parsed.ignored)
    arm, versus = cells[facts.arm_id], cells[facts.versus_arm_id]
    if verdict is None:
        st.caption("Not judged yet: it is judged when the campaign ends or is stopped.")
    else:
        show_headline(verdict, progress)
        show_answers(verdict)
    left, right = st.columns([3, 2], gap="small")
    with left:
        show_both_arms(board, arm, versus)
    with right:
        show_rule(board, facts)
    left, right = st.columns([3, 2], gap="small")
    with left:
        if verdict is not None:
            show_reasons(verdict)
        show_next_steps(verdict)
        show_next_runs(board, progress)
    with right:
        show_runs_of(board, arm, versus)
    show_history(facts)
show_notes(board.campaign.id)
show_provenance(board)
redraw_on_change(partial(campaign_token, board.campaign.id), seen=seen, every_s=IDLE_S)
