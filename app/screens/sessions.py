"""All sessions of a campaign under one filter."""

from dataclasses import replace

import streamlit as st

from app.links import SessionsPlace
from app.widgets.campaign_head import show_provenance
from app.widgets.campaign_page import open_campaign
from app.widgets.navigation import (
    Crumb,
    breadcrumb,
    campaign_crumbs,
    complete_address,
    say_ignored,
)
from app.widgets.session_table import show_sessions_of_campaign

parsed, board = open_campaign(SessionsPlace)
place = replace(parsed.place, campaign=board.campaign.id)
complete_address(place)
breadcrumb(*campaign_crumbs(board.campaign), Crumb("Sessions"))
st.title("Sessions", anchor=False)
say_ignored(parsed.ignored)
show_sessions_of_campaign(board.campaign.id, place)
show_provenance(board)
