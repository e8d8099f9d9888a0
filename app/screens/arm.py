"""One arm: its counts and rate, drift over its runs, waits, load, failing dialogues, sessions."""

from functools import partial

import streamlit as st

from app import reads_cache
from app.errors import UnknownIdError
from app.links import ArmPlace, read_place
from app.widgets.arm_parts import (
    show_again,
    show_counts,
    show_dialogues,
    show_dose,
    show_drift,
    show_head,
    show_waits,
)
from app.widgets.campaign_head import campaign_token, show_provenance
from app.widgets.navigation import (
    Crumb,
    breadcrumb,
    campaign_crumbs,
    matrix_crumb,
    say_ignored,
)
from app.widgets.polling import IDLE_S, redraw_on_change, standing
from app.widgets.session_table import show_sessions_of_arm

parsed = read_place(ArmPlace, st.query_params.to_dict())
place = parsed.place
if place.arm is None:
    raise UnknownIdError("The address names no arm; open one from the matrix.")
campaign_id = reads_cache.campaign_of_arm(place.arm)
token = partial(campaign_token, campaign_id)
seen = standing(token)
board = reads_cache.board(campaign_id)
cells = reads_cache.cells(board)
cell = next(each for each in cells if each.arm.id == place.arm)
baseline = next((each for each in cells if each.arm.is_baseline), None)

breadcrumb(*campaign_crumbs(board.campaign), matrix_crumb(campaign_id), Crumb(cell.arm.name))
show_head(cell)
say_ignored(parsed.ignored)
left, right = st.columns([1, 1], gap="small")
with left:
    show_counts(cell)
with right:
    show_drift(board, cell)
left, right = st.columns([1, 1], gap="small")
with left:
    show_waits(cell, baseline)
with right:
    show_dose(cell, cells)
show_sessions_of_arm(cell, place)
left, right = st.columns([1, 1], gap="small")
with left:
    show_dialogues(board, cell)
with right:
    show_again(board, cell, baseline)
show_provenance(board)
redraw_on_change(token, seen=seen, every_s=IDLE_S)
