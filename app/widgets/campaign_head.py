"""What stands at the head and the foot of every page about one campaign."""

from collections.abc import Hashable, Sequence

import streamlit as st

from app import reads_cache
from app.campaign_progress import Asked, CampaignState, Progress, is_settled, progress_of
from app.cell_reading import counts_of, left_out_words
from app.links import RunPlace
from app.markdown_text import badge, plain
from app.records import Board
from app.widgets.launch_desk import request_of_campaign
from app.widgets.navigation import link_to
from app.widgets.sidebar import silence_line
from app.wording import corrupt_words, counted_noun, headline_badge
from db.identifiers import IdKind, format_id
from db.reads.campaigns import VerdictFacts
from db.reads.runs import RunCounts
from db.reads.work import LaunchRequestFacts
from db.vocabulary import LaunchRequestState, RunState
from runner.evidence.wording import count_text, duration_text, moment_text

_STATE_BADGES = {
    CampaignState.RUNNING: badge("running", colour="gray", icon=":material/play_circle:"),
    CampaignState.DONE: badge("done", colour="gray", icon=":material/check:"),
    CampaignState.WAITING: badge("waiting", colour="gray", icon=":material/more_horiz:"),
    CampaignState.STOPPED: badge("stopped", colour="gray", icon=":material/stop_circle:"),
    CampaignState.INCOMPLETE: badge("incomplete", colour="gray", icon=":material/rule:"),
}


def campaign_badge(progress: Progress) -> str:
    return _STATE_BADGES[progress.state]


def progress_now(board: Board) -> Progress:
    """How far it is at this moment; the queue says whether somebody still means to go on."""
    return progress_of(
        board.runs,
        asked=_asked(request_of_campaign(board.campaign.id)),
        is_settled=is_settled(board.verdicts),
        now_us=reads_cache.now_us(),
    )


def _asked(request: LaunchRequestFacts | None) -> Asked:
    if request is None:
        return Asked.NOT
    if request.state == LaunchRequestState.QUEUED:
        return Asked.WAITS
    return Asked.WORKS if request.most_blocks is None else Asked.WORKS_UNTIL_DECIDED


def campaign_token(campaign_id: int) -> Hashable:
    """Changes whenever anything that a page about this campaign shows has changed."""
    return reads_cache.movements([campaign_id]), requests_token(campaign_id)


def requests_token(campaign_id: int) -> Hashable:
    """Changes whenever somebody asks to go on with the campaign, or to stop it."""
    return tuple(
        (request.id, request.state, request.stop_requested)
        for request in reads_cache.work_now().open_requests
        if request.campaign_id == campaign_id
    )


def show_progress(board: Board, progress: Progress) -> None:
    """How far the campaign is, and what the run in work has shown so far."""
    runs = f"{progress.runs_done} of {counted_noun(progress.runs_total, 'run')} done"
    sessions = (
        f"{count_text(progress.sessions_ended)} of "
        f"{counted_noun(progress.sessions_planned, 'session')}"
    )
    if progress.state is not CampaignState.DONE:
        left = ""
        if progress.remaining_s and progress.state is CampaignState.RUNNING:
            left = f" · about {duration_text(progress.remaining_s)} left"
        st.progress(progress.share, text=f"{runs} · {sessions} ended{left}")
    run = progress.active
    if run is None:
        return
    counts = counts_of(run, board.campaign.corrupt_outcomes)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        link_to(RunPlace(run=run.id), f"{format_id(IdKind.RUN, run.id)} {run.state}")
        so_far = f"{run.n_ended} of {run.sessions_planned} ended"
        if counts.all:
            so_far += f" · corrupt so far {corrupt_words(counts).fraction}"
        name = plain(board.arm(run.arm_id).name)
        st.markdown(f"{name} :gray[· {so_far} · counts once it is done]", width="content")
    show_silence(run)
    said = reads_cache.progress(board.campaign.id).said_of_run(run.id)
    if said:
        st.markdown(f":gray[:material/trending_flat:] :small[{plain(said, limit=600)}]")


def show_silence(run: RunCounts) -> None:
    """Of a run in work whose worker died or hangs: it must not look as if it moved."""
    workers = reads_cache.work_now().workers
    silent = silence_line(run.worker, workers, now_us=reads_cache.now_us())
    if run.run_state.is_active and silent is not None:
        st.markdown(silent)


def verdict_badges(verdicts: Sequence[VerdictFacts], *, is_final: bool) -> str:
    """One chip a hypothesis, in Markdown; an unjudged one is named too.

    What was written after the first run began says that it is exploratory; where runs are
    outstanding each says that it holds so far.
    """
    return " ".join(
        headline_badge(verdict.headline, label=_labelled(verdict), is_final=is_final)
        if verdict.headline
        else badge(f"{verdict.slug} not judged", colour="gray", icon=":material/help:")
        for verdict in verdicts
    )


def _labelled(verdict: VerdictFacts) -> str:
    return verdict.slug if verdict.is_registered else f"exploratory {verdict.slug}"


def show_provenance(board: Board) -> None:
    """As of when, from how much, what was left out, by which code."""
    done = [run for run in board.runs if run.state == RunState.DONE]
    sessions = sum(run.n_ended for run in done)
    left_out = left_out_words(board.runs)
    harness = sum(run.n_harness_error for run in done)
    parts = [
        f"As of {moment_text(reads_cache.now_us())}",
        f"{counted_noun(sessions, 'session')} in {counted_noun(len(done), 'finished run')}",
        f"left out: {left_out}" if left_out else "no run left out",
        counted_noun(harness, "harness error"),
        f"code {board.campaign.code_version}",
    ]
    st.caption(plain(" · ".join(parts)))
