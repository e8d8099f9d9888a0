"""One session turn by turn: what was due, what came, and where the two part."""

import streamlit as st

from app import reads_cache
from app.errors import UnknownIdError
from app.links import SessionPlace, read_place
from app.widgets.navigation import (
    Crumb,
    breadcrumb,
    campaign_crumbs,
    cell_crumb,
    matrix_crumb,
    run_crumb,
    say_ignored,
)
from app.widgets.session_parts import (
    show_answer_first,
    show_events,
    show_timeline,
    show_title,
    show_twins,
)
from app.widgets.turn_panel import show_turn
from db.identifiers import IdKind, format_id

parsed = read_place(SessionPlace, st.query_params.to_dict())
place = parsed.place
if place.session is None:
    raise UnknownIdError("The address names no session; open one from a run or a cell.")

transcript = reads_cache.transcript(place.session)
session, turns = transcript.session, transcript.turns
board = reads_cache.board(reads_cache.campaign_of_session(session.id))
run = board.run(session.run_id)

breadcrumb(
    *campaign_crumbs(board.campaign),
    matrix_crumb(board.campaign.id),
    cell_crumb(board.campaign.id, board.arm(run.arm_id)),
    run_crumb(run.id),
    Crumb(format_id(IdKind.SESSION, session.id)),
)
show_title(session, place, board.campaign.id)
say_ignored(parsed.ignored)
show_answer_first(session)

left, right = st.columns([3, 2], gap="small")
with left:
    for turn in turns:
        is_decisive = turn.turn_index == session.decisive_turn
        show_turn(turn, transcript.raw, is_open=is_decisive or len(turns) == 1)
    if not turns:
        st.caption("No turn of this session was stored.")
    if session.rounds_completed < session.rounds_planned and session.decisive_turn is not None:
        st.caption("Later turns were not played: a session ends at its first bad turn.")
    twins = reads_cache.twins(board.campaign.id, session.session_index)
    show_twins(session, twins, concurrency=board.arm(run.arm_id).concurrency)
with right:
    with st.container(border=True, gap="xsmall"):
        show_timeline(session, turns, run)
    with st.container(border=True, gap="xsmall"):
        show_events(session, run)

st.caption(
    f"Judged by judge {session.judge_version} from the stored bytes · "
    f"code {board.campaign.code_version}"
)
