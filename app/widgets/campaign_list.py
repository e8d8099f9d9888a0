"""The list of campaigns, one bordered row each, newest first."""

from collections.abc import Hashable, Sequence

import streamlit as st

from app import reads_cache
from app.campaign_progress import CampaignState, Progress
from app.cell_reading import CellReading, left_out_words, worst_cell
from app.links import MatrixPlace, OverviewPlace
from app.markdown_text import plain
from app.records import Board
from app.widgets.campaign_head import campaign_badge, progress_now, verdict_badges
from app.widgets.navigation import link_to
from app.wording import ago_text, corrupt_words, counted_noun
from db.identifiers import IdKind, format_id
from db.reads.campaigns import CampaignFacts
from db.reads.runs import RunCounts
from runner.campaign.reduction_names import by_reduction
from runner.evidence.wording import count_text, silent_text

_PAGE_ROWS = 20
_MOST_TRIALS = 60


def show_campaigns(campaigns: Sequence[CampaignFacts]) -> None:
    """What a reduction made stands under its campaign, closed: it is not read before."""
    groups = by_reduction(campaigns)
    pages = -(-len(groups) // _PAGE_ROWS)
    page = st.pagination(pages, key="campaigns page") if pages > 1 else 1
    shown = groups[(page - 1) * _PAGE_ROWS : page * _PAGE_ROWS]
    read = reads_cache.boards_with_cells([group.campaign.id for group in shown])
    for group, (board, cells) in zip(shown, read, strict=True):
        _show_campaign(board, cells)
        if group.trials:
            _show_trials(group.trials)


def _show_trials(trials: Sequence[CampaignFacts]) -> None:
    with st.expander(f"{counted_noun(len(trials), 'campaign')} of its reduction"):
        for trial in trials[:_MOST_TRIALS]:
            link_to(OverviewPlace(campaign=trial.id), plain(trial.name))
            st.caption(plain(f"{format_id(IdKind.CAMPAIGN, trial.id)} · {trial.question}"))
        if len(trials) > _MOST_TRIALS:
            st.caption(f"and {len(trials) - _MOST_TRIALS:,} earlier ones")


def list_token() -> Hashable:
    """Changes whenever a row of the list, or the queue, has changed."""
    campaigns = reads_cache.campaign_list()
    open_requests = reads_cache.work_now().open_requests
    return (
        reads_cache.movements([campaign.id for campaign in campaigns]),
        len(campaigns),
        tuple((request.id, request.state, request.stop_requested) for request in open_requests),
    )


def is_busy() -> bool:
    """Somebody works on a campaign, or waits for one."""
    moved = reads_cache.movements([campaign.id for campaign in reads_cache.campaign_list()])
    return not moved.is_still or bool(reads_cache.work_now().open_requests)


def _show_campaign(board: Board, cells: Sequence[CellReading]) -> None:
    campaign = board.campaign
    progress = progress_now(board)
    with st.container(border=True, gap="xsmall"):
        name, worst, moved = st.columns([5, 3, 2], gap="small")
        with name:
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                place = OverviewPlace(campaign=campaign.id)
                link_to(place, f"**{plain(campaign.name)}**")
                about = f":gray[{format_id(IdKind.CAMPAIGN, campaign.id)} · {campaign.stack}]"
                st.markdown(f"{about} {campaign_badge(progress)}", width="content")
            st.markdown(plain(campaign.question))
            if board.verdicts:
                st.markdown(verdict_badges(board.verdicts, is_final=progress.is_final))
        with worst:
            _show_worst(campaign, worst_cell(cells))
        with moved:
            _show_moved(progress, board.runs)


def _show_worst(campaign: CampaignFacts, worst: CellReading | None) -> None:
    st.caption("Worst cell")
    if worst is None:
        st.markdown(":gray[no finished run yet]")
        return
    words = corrupt_words(worst.counts)
    silent = silent_text(worst.counts)
    wedged = " · wedged" if worst.is_wedged else ""
    st.markdown(f"**{words.fraction}** {words.rate}" + (f" · {silent}" if silent else "") + wedged)
    link_to(MatrixPlace(campaign=campaign.id, arm=worst.arm.id), plain(worst.arm.name))


def _show_moved(progress: Progress, runs: list[RunCounts]) -> None:
    st.caption(f"{progress.runs_done} of {counted_noun(progress.runs_total, 'run')} done")
    if progress.state is not CampaignState.DONE:
        st.progress(progress.share)
    ended, planned = count_text(progress.sessions_ended), count_text(progress.sessions_planned)
    st.markdown(f"{ended} of {planned} sessions")
    if progress.last_moved_at_us is not None:
        ago = ago_text(progress.last_moved_at_us, now_us=reads_cache.now_us())
        left_out = left_out_words(runs)
        st.caption(f"moved {ago}" + (f" · {left_out}" if left_out else ""))
