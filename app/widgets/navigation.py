"""Links between pages and the trail at the top of each; knows places, not what they show."""

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from app.links import CampaignsPlace, MatrixPlace, OverviewPlace, Place, RunPlace, query_of
from app.markdown_text import plain
from db.identifiers import IdKind, format_id
from db.reads.campaigns import ArmFacts, CampaignFacts


class Crumb(NamedTuple):
    """One step of the trail; the last one has no place."""

    label: str
    place: Place | None = None


def script_of(place: Place | type[Place]) -> str:
    """The file of a place's page, relative to the entry script."""
    return f"screens/{place.path or 'campaigns'}.py"


def link_to(place: Place, label: str, *, icon: str | None = None, help: str | None = None) -> None:
    """A link that stays in this tab; `label` is Markdown."""
    st.page_link(script_of(place), label=label, icon=icon, help=help, query_params=query_of(place))


def go_to(place: Place) -> None:
    st.switch_page(script_of(place), query_params=query_of(place))


def stay_at(place: Place) -> None:
    """Write the place into the address of this page; meant for callbacks of widgets.

    A browser may still tell of a widget that the page has just dropped, and Streamlit then calls
    its callback: what was shown anyway is no choice, and must not be written into the address of a
    page that follows what is in work.
    """
    st.query_params.from_dict(query_of(place))


def complete_address(place: Place) -> None:
    """Write into the address what a page chose by itself, so that it can be passed on as it is."""
    if any(st.query_params.get(name) != value for name, value in query_of(place).items()):
        stay_at(place)


def breadcrumb(*crumbs: Crumb) -> None:
    with st.container(horizontal=True, gap="xxsmall", vertical_alignment="center"):
        for number, crumb in enumerate(crumbs):
            if number:
                st.caption("›", width="content")
            if crumb.place is None:
                st.caption(plain(crumb.label), width="content")
            else:
                link_to(crumb.place, plain(crumb.label))


def campaign_crumbs(campaign: CampaignFacts) -> list[Crumb]:
    """The way down to a campaign; its own page is its overview."""
    name = campaign_name(campaign)
    return [Crumb("Campaigns", CampaignsPlace()), Crumb(name, OverviewPlace(campaign=campaign.id))]


def campaign_name(campaign: CampaignFacts) -> str:
    return f"{format_id(IdKind.CAMPAIGN, campaign.id)} {campaign.name}"


def matrix_crumb(campaign_id: int) -> Crumb:
    return Crumb("Matrix", MatrixPlace(campaign=campaign_id))


def cell_crumb(campaign_id: int, arm: ArmFacts) -> Crumb:
    return Crumb(arm.name, MatrixPlace(campaign=campaign_id, arm=arm.id))


def run_crumb(run_id: int) -> Crumb:
    return Crumb(format_id(IdKind.RUN, run_id), RunPlace(run=run_id))


def say_ignored(ignored: Sequence[str]) -> None:
    """Names what the address held and could not be read."""
    if ignored:
        st.caption("Ignored in the address: " + ", ".join(plain(item) for item in ignored))
