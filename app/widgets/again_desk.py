"""What can be asked of a campaign that exists: a stop, what is missing, more blocks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import streamlit as st

from app import reads_cache
from app.campaign_files import OfferedFile, config_folder, plan_of, read_file
from app.campaign_progress import CampaignState, Progress
from app.errors import NoConfigsError, UnreadableStoreError
from app.markdown_text import plain
from app.plan_standing import PlanStanding, standing_of
from app.records import Board
from app.widgets.launch_desk import queue_campaign, request_of_campaign, stop_button
from app.widgets.panel_title import panel_title
from app.widgets.until_decided import choose_most_blocks, show_most
from app.wording import counted_noun
from runner.campaign.campaign import Campaign
from runner.campaign.definition import definition_key
from runner.campaign.file_shape import LevelValue
from runner.evidence.wording import duration_text

_MOST_MORE = 100


@dataclass(frozen=True, slots=True)
class Again:
    """How the campaign was asked for, so that it can be asked for again."""

    offered: OfferedFile
    levels: Mapping[str, Sequence[LevelValue]]
    order_seed: int
    blocks: int
    campaign: Campaign
    most_blocks: int | None


def show_actions(board: Board, progress: Progress) -> None:
    """One action at a time: stop while it runs, go on where it did not end, extend where it did."""
    request = request_of_campaign(board.campaign.id)
    if request is not None:
        stop_button(request, key=f"stop campaign {board.campaign.id}")
        return
    if progress.state is CampaignState.RUNNING:
        st.caption("Started at a terminal: stop it there.", width="content")
        return
    if not board.runs:
        return
    with st.popover(_label(progress), icon=":material/playlist_add:"):
        try:
            again = find_again(board)
        except NoConfigsError as error:
            st.caption(plain(str(error), limit=600))
            return
        if progress.state is CampaignState.DONE:
            _show_extension(board, again)
        else:
            _show_missing(board, again)


def show_next_runs(board: Board, progress: Progress) -> None:
    """What further runs would cost, and one click that queues them: what is missing, or a block."""
    with st.container(border=True, gap="xsmall"):
        panel_title("Further runs")
        if progress.state is CampaignState.RUNNING or request_of_campaign(board.campaign.id):
            st.caption("Runs of this campaign are under way, or wait in the queue.")
            return
        try:
            again = find_again(board)
            if _show_until_decided(board, again):
                return
            blocks = again.blocks + (progress.state is CampaignState.DONE)
            standing, seconds = _standing(board, again, blocks)
        except NoConfigsError as error:
            st.caption(plain(str(error), limit=600))
            return
        what = "One more block" if blocks > again.blocks else "What is missing"
        runs = counted_noun(standing.runs_missing, "run")
        again_words = f", {standing.failed} of them again" if standing.failed else ""
        st.markdown(
            f"{what}: {runs}{again_words}, "
            f"{counted_noun(standing.sessions_missing, 'session')}, about {duration_text(seconds)}."
        )
        if blocks > again.blocks:
            st.caption("Where the number of runs was fixed, verdicts say that it was extended.")
        _queue(again, blocks, standing)


def find_again(board: Board) -> Again:
    """Raises NoConfigsError with why it cannot be asked for again."""
    request = reads_cache.last_request_of(board.campaign.id)
    name = request.campaign_file if request else PurePath(board.campaign.source_path).stem
    offered = read_file(config_folder(), name)
    levels = request.levels if request else {}
    seed = board.campaign.order_seed
    again = Again(
        offered=offered,
        levels=levels,
        order_seed=seed,
        blocks=max((run.block for run in board.runs), default=1),
        campaign=plan_of(offered, levels, order_seed=seed).campaign,
        most_blocks=request.most_blocks if request else None,
    )
    key = definition_key(again.campaign, offered.known_stack)
    if key != reads_cache.campaign_definition_key(board.campaign.id):
        raise NoConfigsError(
            f"The file {name} has changed since, in what it measures: run now, it would be another "
            "campaign. Queue it as a new one."
        )
    return again


def _label(progress: Progress) -> str:
    if progress.state is CampaignState.DONE:
        return "Extend"
    return f"Run what is missing ({progress.runs_missing})"


def _show_missing(board: Board, again: Again) -> None:
    if _show_until_decided(board, again):
        return
    standing, seconds = _standing(board, again, again.blocks)
    st.markdown(plain(standing.sentence))
    st.caption(f"About {duration_text(seconds)}. Runs that are done stay as they are.")
    _queue(again, again.blocks, standing)


def _show_until_decided(board: Board, again: Again) -> bool:
    """Whether it is chosen to go on until it is decided; then it can be queued so."""
    most = choose_most_blocks(
        again.campaign, blocks=again.blocks, verdicts=board.verdicts, last=again.most_blocks
    )
    if most is None:
        return False
    standing, seconds = _standing(board, again, most)
    show_most(again.campaign, standing, seconds)
    _queue(again, again.blocks, standing, most_blocks=most)
    return True


def _show_extension(board: Board, again: Again) -> None:
    if _show_until_decided(board, again):
        return
    more = st.number_input("More blocks", min_value=1, max_value=_MOST_MORE, value=1, step=1)
    blocks = again.blocks + int(more)
    try:
        standing, seconds = _standing(board, again, blocks)
    except NoConfigsError as error:
        st.caption(plain(str(error), limit=600))
        return
    st.markdown(
        f"{counted_noun(standing.runs_missing, 'more run')}, "
        f"{counted_noun(standing.sessions_missing, 'session')}, about {duration_text(seconds)}."
    )
    st.caption("Where the number of runs was fixed, the verdicts will say that it was extended.")
    _queue(again, blocks, standing)


def _standing(board: Board, again: Again, blocks: int) -> tuple[PlanStanding, float]:
    """What it would do, and about how long it would take."""
    plan = plan_of(
        again.offered,
        again.levels,
        order_seed=again.order_seed,
        blocks=blocks,
        earlier=reads_cache.earlier_runs(board.campaign.name, stack=board.campaign.stack),
    )
    standing = standing_of(plan, board.campaign.id, board.runs)
    return standing, plan.seconds * standing.share_missing


def _queue(
    again: Again, blocks: int, standing: PlanStanding, *, most_blocks: int | None = None
) -> None:
    label = f"Queue {counted_noun(standing.runs_missing, 'run')}"
    if most_blocks is not None:
        label = "Queue until decided"
    is_nothing = standing.runs_nothing
    if not st.button(label, type="primary", icon=":material/play_arrow:", disabled=is_nothing):
        return
    campaign = again.offered.known_campaign
    try:
        queue_campaign(
            again.offered.name,
            levels=again.levels,
            order_seed=_unless(again.order_seed, campaign.schedule.order_seed),
            blocks=_unless(blocks, campaign.schedule.blocks),
            most_blocks=most_blocks,
            campaign_id=standing.campaign_id,
        )
    except UnreadableStoreError as error:
        st.error(plain(str(error)), title="It could not be queued")
        return
    st.rerun()


def _unless(wanted: int, of_the_file: int) -> int | None:
    return None if wanted == of_the_file else wanted
