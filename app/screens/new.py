"""Queue a campaign file that lies on the server, after seeing the arms and what they will cost."""

import streamlit as st

from app import reads_cache
from app.campaign_files import config_folder, file_names, plan_of, read_file
from app.errors import NoConfigsError
from app.links import CampaignsPlace, NewPlace, read_place
from app.markdown_text import plain
from app.plan_standing import standing_of
from app.widgets.navigation import Crumb, breadcrumb
from app.widgets.new_parts import (
    choose_blocks,
    choose_file,
    choose_levels,
    choose_seed,
    queue_button,
    show_answers,
    show_plan,
    show_standing,
)
from app.widgets.until_decided import choose_most_blocks, show_most
from runner.campaign.definition import definition_key

place = read_place(NewPlace, st.query_params.to_dict()).place
breadcrumb(Crumb("Campaigns", CampaignsPlace()), Crumb("New"))
st.title("New campaign", anchor=False)

folder = config_folder()
names = file_names(folder)
if place.file is not None and place.file not in names:
    st.caption(f"Ignored in the address: file={plain(place.file)}")
left, right = st.columns([1, 2], gap="small")
desk = left.container(border=True, gap="small")
with desk:
    offered = read_file(folder, choose_file(names, place.file))
    if offered.campaign is None:
        st.error(plain(offered.problem, limit=2000), title="This file cannot be run")
        st.stop()
    levels = choose_levels(offered.campaign)
    seed = choose_seed(offered.campaign)
    blocks = choose_blocks(offered.campaign)
with right:
    try:
        earlier = reads_cache.earlier_runs(offered.known_campaign.name, stack=offered.stack_name)
        plan = plan_of(offered, levels, order_seed=seed, blocks=blocks, earlier=earlier)
    except NoConfigsError as error:
        st.warning(plain(str(error)), title="Nothing to run with this choice")
        st.stop()
    key = definition_key(plan.campaign, offered.known_stack)
    stored = reads_cache.campaign_by_definition(key)
    board = reads_cache.board(stored) if stored is not None else None
    runs = board.runs if board else []
    standing = standing_of(plan, stored, runs)
with desk:
    most_blocks = choose_most_blocks(
        plan.campaign,
        blocks=max(plan.campaign.schedule.blocks, standing.blocks_before or 0),
        verdicts=board.verdicts if board else (),
    )
with right:
    show_standing(standing, blocks=plan.campaign.schedule.blocks, most_blocks=most_blocks)
    longest = plan
    if most_blocks is not None:
        longest = plan_of(offered, levels, order_seed=seed, blocks=most_blocks, earlier=earlier)
        most = standing_of(longest, stored, runs)
        show_most(plan.campaign, most, longest.seconds * most.share_missing)
    queue_button(
        offered.name,
        levels=levels,
        order_seed=seed,
        blocks=blocks,
        most_blocks=most_blocks,
        standing=standing,
    )
    show_plan(plan, is_beginning=most_blocks is not None)
    show_answers(*reads_cache.plan_answers(offered, longest))
st.caption(plain(f"Files: {folder.path.resolve() / 'campaigns'}. Only files that lie there run."))
