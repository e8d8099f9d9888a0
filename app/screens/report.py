"""The report as it is exported: on a campaign, an arm, two arms or a session, to be taken along."""

from dataclasses import replace

import streamlit as st

from app.links import ReportPlace
from app.widgets.campaign_head import show_provenance
from app.widgets.campaign_page import open_campaign
from app.widgets.navigation import (
    Crumb,
    breadcrumb,
    campaign_crumbs,
    complete_address,
    say_ignored,
)
from app.widgets.report_parts import pick_form, pick_redaction, pick_subject, show_report

parsed, board = open_campaign(ReportPlace)
known = {arm.id for arm in board.arms}
named = replace(parsed.place, campaign=board.campaign.id)
arm = named.arm if named.arm in known else None
versus = named.versus if arm is not None and named.versus in known - {arm} else None
place = replace(named, arm=arm, versus=versus)
complete_address(place)
breadcrumb(*campaign_crumbs(board.campaign), Crumb("Report"))
st.title("Report", anchor=False)
say_ignored(parsed.ignored)
with st.container(horizontal=True, vertical_alignment="bottom"):
    pick_subject(board, place)
with st.container(horizontal=True, vertical_alignment="bottom"):
    pick_form(place)
    pick_redaction(place)
st.caption("Byte for byte what this command writes.")
show_report(board, place)
show_provenance(board)
