"""One campaign at a glance: its state in a line, rates, verdicts, and where to look next."""

from dataclasses import replace
from functools import partial

import streamlit as st

from app import reads_cache
from app.links import MatrixPlace, OverviewPlace, ReportPlace
from app.markdown_text import plain
from app.next_looks import next_looks, worst_corrupt_cell
from app.widgets.again_desk import show_actions
from app.widgets.campaign_head import (
    campaign_badge,
    campaign_token,
    progress_now,
    show_progress,
    show_provenance,
)
from app.widgets.campaign_page import open_watched_campaign
from app.widgets.navigation import (
    Crumb,
    breadcrumb,
    campaign_crumbs,
    complete_address,
    link_to,
    say_ignored,
)
from app.widgets.notes import show_notes
from app.widgets.overview_parts import (
    show_clock,
    show_forest,
    show_next_looks,
    status_chips,
)
from app.widgets.polling import BUSY_S, IDLE_S, live, redraw_on_change
from app.widgets.verdict_parts import show_verdict_list

parsed, board, seen = open_watched_campaign(OverviewPlace)
complete_address(replace(parsed.place, campaign=board.campaign.id))
progress = progress_now(board)
cells = reads_cache.cells(board)

crumbs = campaign_crumbs(board.campaign)
breadcrumb(*crumbs[:-1], Crumb(crumbs[-1].label))
with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    with st.container(horizontal=True, vertical_alignment="center", width="content"):
        st.title(plain(board.campaign.name), width="content", anchor=False)
        about = f":small[:gray[stack {plain(board.campaign.stack)}]]"
        st.markdown(f"{campaign_badge(progress)} {about}", width="content")
    with st.container(horizontal=True, vertical_alignment="center", width="content"):
        link_to(MatrixPlace(campaign=board.campaign.id), "Matrix", icon=":material/grid_on:")
        link_to(ReportPlace(campaign=board.campaign.id), "Report", icon=":material/description:")
        show_actions(board, progress)
say_ignored(parsed.ignored)
st.markdown(f":gray[Question] {plain(board.campaign.question)}")
st.markdown(status_chips(board, is_final=progress.is_final))


def show_moving() -> None:
    """Drawn again every two seconds while a run is in work."""
    now = reads_cache.board(board.campaign.id)
    show_progress(now, progress_now(now))


live(show_moving, every_s=BUSY_S if progress.active else None)

worst = worst_corrupt_cell(cells)
corrupt = reads_cache.sessions_of_runs(
    worst.done if worst else [],
    outcomes=board.campaign.corrupt_outcomes,
    limit=1,
)
left, right = st.columns([5, 3], gap="small")
with left:
    show_forest(cells)
    show_clock(board, cells)
with right:
    show_next_looks(
        next_looks(
            campaign=board.campaign,
            cells=cells,
            runs=board.runs,
            verdicts=board.verdicts,
            first_corrupt=next(iter(corrupt), None),
        )
    )
    show_verdict_list(board, progress)
show_notes(board.campaign.id)
show_provenance(board)
redraw_on_change(
    partial(campaign_token, board.campaign.id),
    seen=seen,
    every_s=BUSY_S if progress.active else IDLE_S,
)
