"""The report as it is exported: on a campaign, an arm, two arms or a session, to be taken along."""

from dataclasses import replace

import streamlit as st

from app import reads_cache
from app.current_campaign import current_campaign
from app.links import ReportPlace, read_place
from app.markdown_text import plain
from app.widgets.campaign_head import show_provenance
from app.widgets.empty_pages import show_no_campaigns
from app.widgets.navigation import (
    Crumb,
    breadcrumb,
    campaign_crumbs,
    complete_address,
    say_ignored,
)
from app.widgets.report_parts import pick_form, pick_redaction, pick_subject, show_report

parsed = read_place(ReportPlace, st.query_params.to_dict())
campaign_id = current_campaign(st.query_params.to_dict())
if campaign_id is None:
    show_no_campaigns()
    st.stop()
board = reads_cache.board(campaign_id)
known = {arm.id for arm in board.arms}
named = replace(parsed.place, campaign=campaign_id)
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
st.caption(
    plain(
        "Byte for byte what this command writes; `--format bundle -o FILE.zip` adds tables, "
        "transcripts, logs and black boxes."
    )
)
show_report(board, place)
show_provenance(board)
