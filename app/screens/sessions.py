"""All sessions of a campaign under one filter."""

from dataclasses import replace

import streamlit as st

from app import reads_cache
from app.current_campaign import current_campaign
from app.links import SessionsPlace, read_place
from app.widgets.campaign_head import show_provenance
from app.widgets.empty_pages import show_no_campaigns
from app.widgets.navigation import (
    Crumb,
    breadcrumb,
    campaign_crumbs,
    complete_address,
    say_ignored,
)
from app.widgets.session_table import show_sessions_of_campaign

parsed = read_place(SessionsPlace, st.query_params.to_dict())
campaign_id = current_campaign(st.query_params.to_dict())
if campaign_id is None:
    show_no_campaigns()
    st.stop()
place = replace(parsed.place, campaign=campaign_id)
board = reads_cache.board(campaign_id)
complete_address(place)
breadcrumb(*campaign_crumbs(board.campaign), Crumb("Sessions"))
st.title("Sessions", anchor=False)
say_ignored(parsed.ignored)
show_sessions_of_campaign(campaign_id, place)
show_provenance(board)
