"""The report on a campaign as it is exported: to be read here, and to be taken along."""

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
from app.wording import bytes_text

SHOWN_CHARACTERS = 200_000

parsed = read_place(ReportPlace, st.query_params.to_dict())
campaign_id = current_campaign(st.query_params.to_dict())
if campaign_id is None:
    show_no_campaigns()
    st.stop()
board = reads_cache.board(campaign_id)
complete_address(replace(parsed.place, campaign=campaign_id))
breadcrumb(*campaign_crumbs(board.campaign), Crumb("Report"))
text = reads_cache.report_text(campaign_id)
with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    st.title("Report", width="content", anchor=False)
    st.download_button(
        f"Download Markdown ({bytes_text(len(text.encode()))})",
        data=text,
        file_name=f"{board.campaign.name}.md",
        mime="text/markdown",
        icon=":material/download:",
        on_click="ignore",
    )
say_ignored(parsed.ignored)
st.caption(
    plain(
        f"The same bytes as `decisive report {board.campaign.name}`. Shown as text, for it quotes "
    )
    + plain("what servers and models wrote.")
)
st.code(text[:SHOWN_CHARACTERS], language=None, wrap_lines=True, height=900)
if len(text) > SHOWN_CHARACTERS:
    st.caption("Only its beginning is shown here; the download has it whole.")
show_provenance(board)
