"""Which campaign a page is about: the address says so, else what this tab looked at last.

The address may name it outright, or a run or a session of it. Raises UnknownIdError where the
address names something that is not there.
"""

from collections.abc import Mapping

import streamlit as st

from app import reads_cache
from app.links import (
    ArmPlace,
    ComparedId,
    ComparePlace,
    MatrixPlace,
    RunPlace,
    SessionPlace,
    VerdictsPlace,
    read_place,
)
from db.identifiers import IdKind
from runner.campaign.reduction_names import by_reduction

_LAST = "campaign looked at last"


def named_campaign(parameters: Mapping[str, str]) -> int | None:
    """The campaign that the address names, by itself or else through something that is its."""
    campaign = read_place(MatrixPlace, parameters).place.campaign
    if campaign is not None:
        return campaign
    session = read_place(SessionPlace, parameters).place.session
    if session is not None:
        return reads_cache.campaign_of_session(session)
    hypothesis = read_place(VerdictsPlace, parameters).place.hypothesis
    if hypothesis is not None:
        return reads_cache.campaign_of_hypothesis(hypothesis)
    compared = read_place(ComparePlace, parameters).place
    for side in (compared.b, compared.a):
        if side is not None:
            return campaign_of_side(side)
    run = read_place(RunPlace, parameters).place.run
    if run is not None:
        return reads_cache.campaign_of_run(run)
    arm = read_place(ArmPlace, parameters).place.arm
    return None if arm is None else reads_cache.campaign_of_arm(arm)


def campaign_of_side(side: ComparedId) -> int:
    """Raises UnknownIdError."""
    if side.kind is IdKind.ARM:
        return reads_cache.campaign_of_arm(side.row)
    if side.kind is IdKind.SESSION:
        return reads_cache.campaign_of_session(side.row)
    return reads_cache.campaign_of_run(side.row)


def current_campaign(parameters: Mapping[str, str]) -> int | None:
    """The campaign to show: named, or looked at last, or in work, or the newest; None: none yet."""
    named = named_campaign(parameters)
    if named is None:
        named = _looked_at_last() or reads_cache.campaign_in_work() or _newest()
    if named is not None:
        st.session_state[_LAST] = named
    return named


def _looked_at_last() -> int | None:
    last = st.session_state.get(_LAST)
    known = {campaign.id for campaign in reads_cache.campaign_list()}
    return last if isinstance(last, int) and last in known else None


def _newest() -> int | None:
    campaigns = reads_cache.campaign_list()
    return by_reduction(campaigns)[0].campaign.id if campaigns else None
