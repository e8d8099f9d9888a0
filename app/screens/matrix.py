"""One campaign as arms by concurrency, each cell with its counts, and a drawer for one of them."""

from dataclasses import replace
from functools import partial

import streamlit as st

from app import reads_cache
from app.heat_cells import summary_sentence
from app.links import MatrixPlace
from app.markdown_text import plain
from app.matrix_axes import choose_axes
from app.widgets.campaign_head import (
    campaign_badge,
    campaign_token,
    progress_now,
    show_progress,
    show_provenance,
    verdict_badges,
)
from app.widgets.campaign_page import open_watched_campaign
from app.widgets.cell_drawer import show_drawer, show_no_cell
from app.widgets.matrix_parts import (
    matrix_csv,
    pick_axes,
    pick_metric,
    show_heat_maps,
    show_left_out,
    show_table,
)
from app.widgets.navigation import (
    Crumb,
    breadcrumb,
    campaign_crumbs,
    complete_address,
    say_ignored,
)
from app.widgets.polling import BUSY_S, IDLE_S, redraw_on_change
from app.widgets.verdict_parts import show_verdict_list

parsed, board, seen = open_watched_campaign(MatrixPlace)
place = replace(parsed.place, campaign=board.campaign.id)
complete_address(place)
progress = progress_now(board)
chosen_axes = choose_axes(board.arms, rows=place.rows, columns=place.cols, facet=place.facet)
readings = reads_cache.cells(board)

breadcrumb(*campaign_crumbs(board.campaign), Crumb("Matrix"))
with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    with st.container(horizontal=True, vertical_alignment="center", width="content"):
        st.title("Matrix", width="content", anchor=False)
        verdicts = verdict_badges(board.verdicts, is_final=progress.is_final)
        st.markdown(f"{campaign_badge(progress)} {verdicts}", width="content")
    st.download_button(
        "Download CSV",
        data=lambda: matrix_csv(readings),
        file_name=f"{board.campaign.name}-matrix.csv",
        mime="text/csv",
        icon=":material/download:",
        on_click="ignore",
    )
say_ignored((*parsed.ignored, *chosen_axes.ignored))
st.markdown(f":gray[Question] {plain(board.campaign.question)}")
show_progress(board, progress)

chosen = next((cell for cell in readings if cell.arm.id == place.arm), None)
left, right = st.columns([2, 1], gap="small")
with left:
    pick_metric(place)
    pick_axes(board.arms, chosen_axes.axes, place)
    show_heat_maps(readings, chosen_axes.axes, place)
    st.markdown(summary_sentence(readings))
    st.caption(
        "Each interval is Wilson 95 %; silent sessions count as clean at its lower and as corrupt "
        "at its upper end. Sessions of one run are not independent: verdicts take the run as the "
        "unit."
    )
    show_table(readings, place)
    show_left_out(board, [run for cell in readings for run in cell.left_out])
with right:
    if chosen is None:
        show_no_cell()
        show_verdict_list(board, progress)
    else:
        baseline = next((cell for cell in readings if cell.arm.is_baseline), None)
        picked = next((cell for cell in readings if cell.arm.id == place.pick), None)
        show_drawer(board, chosen, baseline, picked, place)
if chosen is not None:
    show_verdict_list(board, progress)
show_provenance(board)
redraw_on_change(
    partial(campaign_token, board.campaign.id),
    seen=seen,
    every_s=BUSY_S if progress.active else IDLE_S,
)
