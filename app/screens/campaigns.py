"""All campaigns: what each asks, how far it got, its worst cell, and what was judged."""

from functools import partial

import streamlit as st

from app import reads_cache
from app.links import NewPlace
from app.widgets.campaign_list import is_busy, list_token, queue_token, show_campaigns
from app.widgets.empty_pages import show_no_campaigns
from app.widgets.launch_desk import show_queue
from app.widgets.navigation import link_to
from app.widgets.polling import BUSY_S, IDLE_S, redraw_on_change, standing

with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    st.title("Campaigns", width="content", anchor=False)
    link_to(NewPlace(), "New campaign", icon=":material/add:")

asked = standing(queue_token)
campaigns = reads_cache.campaign_list()
show_queue()
if not campaigns:
    show_no_campaigns()
    st.stop()
shown, moved = show_campaigns(campaigns)
redraw_on_change(
    partial(list_token, shown), seen=(moved, asked), every_s=BUSY_S if is_busy() else IDLE_S
)
