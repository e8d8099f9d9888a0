"""The log of one run on its clock: density, kinds of event, and the lines between two moments."""

from dataclasses import replace

import streamlit as st

from app import reads_cache
from app.current_campaign import current_campaign
from app.links import LogsPlace, read_place
from app.widgets.campaign_head import show_provenance
from app.widgets.empty_pages import show_no_campaigns, show_no_runs
from app.widgets.log_parts import pick_window, show_kinds, show_lines
from app.widgets.navigation import (
    Crumb,
    breadcrumb,
    campaign_crumbs,
    cell_crumb,
    complete_address,
    matrix_crumb,
    run_crumb,
    say_ignored,
)
from app.widgets.panel_title import panel_title
from app.widgets.run_clock_parts import show_clock_strip
from app.widgets.run_parts import default_run, pick_run

parsed = read_place(LogsPlace, st.query_params.to_dict())
place = parsed.place
if place.run is None:
    campaign_id = current_campaign(st.query_params.to_dict())
else:
    campaign_id = reads_cache.campaign_of_run(place.run)
if campaign_id is None:
    show_no_campaigns()
    st.stop()
board = reads_cache.board(campaign_id)
run = default_run(board.runs) if place.run is None else board.run(place.run)
if run is None:
    breadcrumb(*campaign_crumbs(board.campaign), Crumb("Logs"))
    show_no_runs("This campaign has planned nothing yet.")
    st.stop()
place = replace(place, run=run.id)
complete_address(place)
breadcrumb(
    *campaign_crumbs(board.campaign),
    matrix_crumb(campaign_id),
    cell_crumb(campaign_id, board.arm(run.arm_id)),
    run_crumb(run.id),
    Crumb("Logs"),
)
st.title("Logs", anchor=False)
say_ignored(parsed.ignored)
pick_run(board, run, place=replace(place, start=None, end=None))
with st.container(border=True, gap="xsmall"):
    panel_title("The run on one clock")
    show_clock_strip(board, run, key="log clock")
left, right = st.columns([1, 2], gap="small")
with left:
    show_kinds(run, place)
with right:
    read = pick_window(place)
    show_lines(run, place, read)
show_provenance(board)
