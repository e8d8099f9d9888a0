"""How every page about one campaign begins: what its address says, and the campaign it is about."""

from collections.abc import Hashable
from functools import partial

import streamlit as st

from app import reads_cache
from app.current_campaign import current_campaign
from app.links import P, Parsed, read_place
from app.records import Board
from app.widgets.campaign_head import campaign_token
from app.widgets.empty_pages import show_no_campaigns
from app.widgets.polling import standing


def open_campaign(kind: type[P]) -> tuple[Parsed[P], Board]:
    """Ends the page with the way to a first campaign where there is none. Raises UnknownIdError."""
    parsed, board, _ = open_watched_campaign(kind)
    return parsed, board


def open_watched_campaign(kind: type[P]) -> tuple[Parsed[P], Board, Hashable]:
    """With how the campaign stood before it was read, for a page that is redrawn on a change."""
    parameters = st.query_params.to_dict()
    campaign_id = current_campaign(parameters)
    if campaign_id is None:
        show_no_campaigns()
        st.stop()
    seen = standing(partial(campaign_token, campaign_id))
    return read_place(kind, parameters), reads_cache.board(campaign_id), seen
