"""The list of campaigns, one bordered row each, newest first."""

from collections.abc import Hashable, Sequence

import streamlit as st

from app import reads_cache
from app.campaign_progress import CampaignState, Progress
from app.cell_reading import CellReading
from app.links import MatrixPlace, OverviewPlace
from app.listed_campaign import ListedCampaign
from app.markdown_text import plain
from app.widgets.campaign_head import campaign_badge, progress_now, verdict_badges
from app.widgets.launch_desk import request_of_campaign
from app.widgets.navigation import link_to
from app.wording import ago_text, corrupt_words, counted_noun
from db.identifiers import IdKind, format_id
from db.reads.campaigns import CampaignFacts
from runner.campaign.reduction_names import by_reduction
from runner.evidence.wording import count_text, silent_text

_PAGE_ROWS = 20
_MOST_TRIALS = 60
_LINE_BREAK = "  \n"


def show_campaigns(campaigns: Sequence[CampaignFacts]) -> tuple[list[int], Hashable]:
    """The ids of those shown, and how they stood before they were read.

    What a reduction made stands under its campaign, closed.
    """
    groups = by_reduction(campaigns)
    pages = -(-len(groups) // _PAGE_ROWS)
    page = st.pagination(pages, key="campaigns page") if pages > 1 else 1
    shown = groups[(page - 1) * _PAGE_ROWS : page * _PAGE_ROWS]
    ids = [group.campaign.id for group in shown]
    moved = rows_token(ids)
    read = reads_cache.listed_campaigns([group.campaign for group in shown])
    for group, listed in zip(shown, read, strict=True):
        _show_campaign(listed)
        if group.trials:
            _show_trials(group.trials)
    stored = reads_cache.campaign_count()
    if stored > len(campaigns):
        st.caption(
            f"The newest {len(campaigns):,} of {counted_noun(stored, 'campaign')}; an older one "
            "opens by its id in the address: `/overview?campaign=c-1`"
        )
    return ids, moved


def _show_trials(trials: Sequence[CampaignFacts]) -> None:
    with st.expander(f"{counted_noun(len(trials), 'campaign')} of its reduction"):
        for trial in trials[:_MOST_TRIALS]:
            link_to(OverviewPlace(campaign=trial.id), plain(trial.name))
            st.caption(plain(f"{format_id(IdKind.CAMPAIGN, trial.id)} · {trial.question}"))
        if len(trials) > _MOST_TRIALS:
            st.caption(f"and {len(trials) - _MOST_TRIALS:,} earlier ones")


def list_token(shown: Sequence[int]) -> Hashable:
    """Changes whenever a row that is shown, or the queue, has changed, or a campaign is new."""
    return rows_token(shown), queue_token()


def rows_token(shown: Sequence[int]) -> Hashable:
    return reads_cache.movements(shown), reads_cache.campaign_count()


def queue_token() -> Hashable:
    open_requests = reads_cache.work_now().open_requests
    return tuple((request.id, request.state, request.stop_requested) for request in open_requests)


def is_busy() -> bool:
    """Somebody works on a campaign, or waits for one."""
    is_in_work = reads_cache.campaign_in_work() is not None
    return is_in_work or bool(reads_cache.work_now().open_requests)


def _show_campaign(listed: ListedCampaign) -> None:
    """Few elements a row: each costs as much as reading the row does."""
    campaign = listed.campaign
    progress = _progress_now(listed)
    with st.container(border=True, gap="xsmall"):
        name, worst, moved = st.columns([5, 3, 2], gap="small")
        with name:
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                place = OverviewPlace(campaign=campaign.id)
                link_to(place, f"**{plain(campaign.name)}**")
                about = f":gray[{format_id(IdKind.CAMPAIGN, campaign.id)} · {campaign.stack}]"
                st.markdown(f"{about} {campaign_badge(progress)}", width="content")
            verdicts = verdict_badges(listed.verdicts, is_final=progress.is_final)
            lines = [plain(campaign.question), verdicts]
            st.markdown(_LINE_BREAK.join(filter(None, lines)))
        with worst:
            _show_worst(campaign, listed.worst)
        with moved:
            _show_moved(progress, listed.left_out)


def _progress_now(listed: ListedCampaign) -> Progress:
    campaign_id = listed.campaign.id
    is_asked_for = request_of_campaign(campaign_id) is not None
    if not is_asked_for and listed.is_at_rest(now_us=reads_cache.now_us()):
        return listed.at_rest
    return progress_now(reads_cache.board(campaign_id))


def _show_worst(campaign: CampaignFacts, worst: CellReading | None) -> None:
    if worst is None:
        st.markdown(f"{_small('Worst cell')}{_LINE_BREAK}:gray[no finished run yet]")
        return
    words = corrupt_words(worst.counts)
    silent = silent_text(worst.counts)
    wedged = " · wedged" if worst.is_wedged else ""
    rate = f"**{words.fraction}** {words.rate}" + (f" · {silent}" if silent else "") + wedged
    st.markdown(f"{_small('Worst cell')}{_LINE_BREAK}{rate}")
    link_to(MatrixPlace(campaign=campaign.id, arm=worst.arm.id), plain(worst.arm.name))


def _show_moved(progress: Progress, left_out: str) -> None:
    done = _small(f"{progress.runs_done} of {counted_noun(progress.runs_total, 'run')} done")
    ended, planned = count_text(progress.sessions_ended), count_text(progress.sessions_planned)
    lines = [f"{ended} of {planned} sessions"]
    if progress.last_moved_at_us is not None:
        ago = ago_text(progress.last_moved_at_us, now_us=reads_cache.now_us())
        lines.append(_small(f"moved {ago}" + (f" · {left_out}" if left_out else "")))
    if progress.state is CampaignState.DONE:
        lines.insert(0, done)
    else:
        st.progress(progress.share, text=done)
    st.markdown(_LINE_BREAK.join(lines))


def _small(words: str) -> str:
    return f":small[:gray[{words}]]"
