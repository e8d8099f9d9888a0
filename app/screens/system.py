"""What the dashboard stands on: store, workers with their heartbeats, queue, stacks, versions."""

import streamlit as st

from app.links import CampaignsPlace
from app.widgets.launch_desk import show_queue
from app.widgets.navigation import Crumb, breadcrumb
from app.widgets.polling import live
from app.widgets.system_parts import (
    show_requests,
    show_stacks,
    show_store,
    show_versions,
    show_workers,
)

breadcrumb(Crumb("Campaigns", CampaignsPlace()), Crumb("System"))
st.title("System", anchor=False)
left, right = st.columns([3, 2], gap="small")
with left:
    live(show_workers, every_s=5.0)
with right:
    show_store()
show_queue()
left, right = st.columns([3, 2], gap="small")
with left:
    show_stacks()
with right:
    show_versions()
show_requests()
