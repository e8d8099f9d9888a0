"""One run, live while it is driven: counts, curve, sessions, log events, and proof of its arm."""

from dataclasses import replace
from functools import partial

import streamlit as st

from app import reads_cache
from app.campaign_progress import CampaignState
from app.current_campaign import current_campaign
from app.links import RunPlace, read_place
from app.widgets.campaign_head import progress_now, show_provenance
from app.widgets.empty_pages import show_no_campaigns, show_no_runs
from app.widgets.navigation import (
    Crumb,
    breadcrumb,
    campaign_crumbs,
    cell_crumb,
    complete_address,
    matrix_crumb,
    say_ignored,
)
from app.widgets.polling import BUSY_S, IDLE_S, live, redraw_on_change, standing
from app.widgets.run_clock_parts import show_stillness
from app.widgets.run_evidence import (
    show_launch,
    show_log_events,
    show_proof,
    show_silent_reasons,
)
from app.widgets.run_parts import (
    default_run,
    pick_run,
    show_head,
    show_live,
    show_warnings,
    shown_token,
)
from app.widgets.run_series import show_series
from app.widgets.session_table import show_sessions
from db.identifiers import IdKind, format_id

parsed = read_place(RunPlace, st.query_params.to_dict())
named = parsed.place.run
if named is None:
    campaign_id = current_campaign(st.query_params.to_dict())
else:
    campaign_id = reads_cache.campaign_of_run(named)
if campaign_id is None:
    show_no_campaigns()
    st.stop()
token = partial(shown_token, campaign_id, named)
seen = standing(token)
board = reads_cache.board(campaign_id)
run = default_run(board.runs) if named is None else board.run(named)
if named is None:  # without a run in its address the page follows the one in work
    complete_address(replace(parsed.place, campaign=campaign_id))
breadcrumb(
    *campaign_crumbs(board.campaign),
    matrix_crumb(campaign_id),
    *([cell_crumb(campaign_id, board.arm(run.arm_id))] if run else []),
    Crumb(format_id(IdKind.RUN, run.id) if run else "Run"),
)
if run is None:
    show_no_runs("This campaign has planned nothing yet.")
    redraw_on_change(token, seen=seen, every_s=IDLE_S)
    st.stop()

show_head(board, run)
say_ignored(parsed.ignored)
pick_run(board, run)
show_warnings(run)
is_followed = named is None and progress_now(board).state is CampaignState.RUNNING
is_moving = not run.run_state.is_terminal
live(partial(show_live, campaign_id, run.id), every_s=BUSY_S if is_moving else None)

record = reads_cache.run_record(run)
left, right = st.columns([3, 2], gap="small")
with left:
    show_stillness(run)
    place = replace(parsed.place, run=run.id, campaign=None)
    show_sessions(run, place)
    show_series(run, place)
with right:
    show_proof(run, record)
    show_silent_reasons(run)
    show_log_events(run)
    show_launch(record)
show_provenance(board)
redraw_on_change(
    token,
    seen=seen,
    every_s=BUSY_S if is_moving or is_followed else IDLE_S,
)
