"""Two arms, runs or sessions side by side: whether that is fair, what differs, and from where."""

from dataclasses import replace

import streamlit as st

from app import reads_cache
from app.current_campaign import campaign_of_side
from app.errors import UnknownIdError
from app.fairness import judge_fairness
from app.links import ComparedId, ComparePlace
from app.widgets.campaign_head import show_provenance
from app.widgets.campaign_page import open_campaign
from app.widgets.compare_evidence import (
    show_block_by_block,
    show_counts,
    show_curves,
    show_log_patterns,
    show_pairs,
)
from app.widgets.compare_parts import (
    compared,
    default_pair,
    differences,
    pick_sides,
    show_configuration,
    show_fairness,
)
from app.widgets.compare_sessions import show_two_sessions
from app.widgets.divergence_parts import show_divergence
from app.widgets.empty_pages import show_no_runs
from app.widgets.navigation import (
    Crumb,
    breadcrumb,
    campaign_crumbs,
    complete_address,
    say_ignored,
)
from db.identifiers import IdKind

parsed, board = open_campaign(ComparePlace)
place = parsed.place
breadcrumb(*campaign_crumbs(board.campaign), Crumb("Compare"))
st.title("Compare", anchor=False)
say_ignored(parsed.ignored)

if place.a is None or place.b is None:
    named = place.a or place.b
    if named is not None and named.kind is not IdKind.RUN:
        raise UnknownIdError("The address names one side only; a comparison needs two of a kind.")
    pair = [ComparedId(IdKind.RUN, run.id) for run in default_pair(board) or ()]
    if not pair:
        show_no_runs("Two runs with ended sessions are needed; this campaign has fewer.")
        st.stop()
    a_id = place.a or next(each for each in pair if each != place.b)
    b_id = place.b or next(each for each in reversed(pair) if each != a_id)
    place = replace(place, a=a_id, b=b_id)
assert place.a is not None
assert place.b is not None
if place.a.kind is not place.b.kind:
    raise UnknownIdError("A and B are not of one kind: compare two arms, two runs or two sessions.")
complete_address(place)
if place.a.kind is IdKind.SESSION:
    show_two_sessions(place.a, place.b, place)
    show_provenance(board)
    st.stop()

boards = [reads_cache.board(campaign_of_side(side)) for side in (place.a, place.b)]
a, b = compared("A", place.a, boards[0]), compared("B", place.b, boards[1])
pick_sides(a, b, place)
rows = differences(a, b)
same_campaign = boards[0].campaign.id == boards[1].campaign.id
show_fairness(judge_fairness(a.side, b.side, rows, same_campaign=same_campaign))

left, right = st.columns([3, 2], gap="small")
with left:
    show_counts(a, b)
with right:
    show_configuration(rows, place)
left, right = st.columns([3, 2], gap="small")
with left:
    if place.a.kind is IdKind.ARM:
        show_block_by_block(a, b)
        show_log_patterns(a, b)
    else:
        show_curves(a, b)
with right:
    show_pairs(a, b)
    if place.a.kind is IdKind.RUN:
        show_log_patterns(a, b)
show_divergence(a, b)
show_provenance(board)
