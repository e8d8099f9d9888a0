"""Two runs side by side: whether that is fair, what differs, counts, and paired sessions."""

from dataclasses import replace

import streamlit as st

from app import reads_cache
from app.current_campaign import current_campaign
from app.fairness import judge_fairness
from app.links import ComparePlace, read_place
from app.widgets.campaign_head import show_provenance
from app.widgets.compare_evidence import (
    show_counts,
    show_curves,
    show_log_patterns,
    show_pairs,
)
from app.widgets.compare_parts import (
    Compared,
    default_pair,
    differences,
    pick_sides,
    show_configuration,
    show_fairness,
)
from app.widgets.empty_pages import show_no_campaigns, show_no_runs
from app.widgets.navigation import (
    Crumb,
    breadcrumb,
    campaign_crumbs,
    complete_address,
    say_ignored,
)

parsed = read_place(ComparePlace, st.query_params.to_dict())
place = parsed.place
campaign_id = current_campaign(st.query_params.to_dict())
if campaign_id is None:
    show_no_campaigns()
    st.stop()
board = reads_cache.board(campaign_id)
breadcrumb(*campaign_crumbs(board.campaign), Crumb("Compare"))
st.title("Compare", anchor=False)
say_ignored(parsed.ignored)

pair = default_pair(board)
if (place.a is None or place.b is None) and pair is None:
    show_no_runs("Two runs with ended sessions are needed; this campaign has fewer.")
    st.stop()
a_id = place.a or next(run.id for run in pair or () if run.id != place.b)
b_id = place.b or next(run.id for run in reversed(pair or ()) if run.id != a_id)
place = replace(place, a=a_id, b=b_id)
complete_address(place)
boards = [reads_cache.board(reads_cache.campaign_of_run(run_id)) for run_id in (a_id, b_id)]
a = Compared("A", boards[0], boards[0].run(a_id))
b = Compared("B", boards[1], boards[1].run(b_id))

pick_sides(a, b, place)
rows = differences(a, b)
same_campaign = boards[0].campaign.id == boards[1].campaign.id
show_fairness(judge_fairness(a.side, b.side, rows, same_campaign=same_campaign))

left, right = st.columns([3, 2], gap="small")
with left:
    show_counts(a.side, b.side)
with right:
    show_configuration(rows, place)
left, right = st.columns([3, 2], gap="small")
with left:
    show_curves(a, b)
with right:
    show_pairs(a, b)
    show_log_patterns(a, b)
show_provenance(board)
