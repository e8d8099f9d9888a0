"""Parts of the run page: its head, what is wrong with it, and the numbers that move."""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Literal

import streamlit as st

from app import reads_cache
from app.cell_reading import counts_of
from app.links import LogsPlace, RunPlace, comparison_of
from app.markdown_text import plain
from app.records import Board
from app.run_clock import elapsed_s
from app.widgets.campaign_head import requests_token, show_silence
from app.widgets.launch_desk import request_of_campaign, stop_button
from app.widgets.navigation import link_to, stay_at
from app.widgets.run_clock_parts import show_clock_strip
from app.wording import corrupt_words, flag_words, levels_text, state_badge
from db.identifiers import IdKind, format_id
from db.reads.runs import RunCounts
from db.vocabulary import RunFlag, RunState
from runner.evidence.counts import SessionCounts
from runner.evidence.summary_lines import summary_lines
from runner.evidence.wording import (
    count_text,
    duration_text,
    moment_text,
    percent_text,
    rounded,
)

_BOX_PX = 170
_LONG_REASON = 600
_LONG_LOG = 4_000
_PROGRESS = ":gray-badge[:material/trending_flat: progress, always valid]"
_Hue = Literal["orange", "blue", "violet", "gray"]


def default_run(runs: Sequence[RunCounts]) -> RunCounts | None:
    """The run in work, else the one that moved last, else the first that is planned."""
    begun = [run for run in runs if run.run_state is not RunState.PLANNED]
    active = [run for run in begun if run.run_state.is_active]
    return max(active or begun, key=lambda run: run.last_moved_at_us, default=None) or next(
        iter(runs), None
    )


def run_token(campaign_id: int, run_id: int) -> Hashable:
    """Changes with the state of the run, and when somebody asks for a stop."""
    return reads_cache.board(campaign_id).run(run_id).state, requests_token(campaign_id)


def shown_token(campaign_id: int, named: int | None) -> Hashable:
    """As that of the run that is named; without one, also when the next run begins."""
    shown = named
    if shown is None:
        run = default_run(reads_cache.board(campaign_id).runs)
        shown = run.id if run else None
    return shown, run_token(campaign_id, shown) if shown is not None else None


def show_head(board: Board, run: RunCounts) -> None:
    arm = board.arm(run.arm_id)
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            st.title(format_id(IdKind.RUN, run.id), width="content", anchor=False)
            st.markdown(f"{state_badge(run.run_state)} {plain(arm.name)}", width="content")
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            _show_actions(board, run)
    parts = [levels_text(arm.levels), f"block {run.block}", f"attempt {run.attempt}"]
    if run.worker:
        parts.append(f"worker {run.worker}")
    if run.started_at_us:
        parts.append(f"began {moment_text(run.started_at_us)}")
    st.caption(plain(" · ".join(parts)))


def pick_run(board: Board, run: RunCounts, *, place: RunPlace | LogsPlace | None = None) -> None:
    """All runs of the campaign; the choice goes into the address of the page that `place` is on."""
    ids = [each.id for each in board.runs]
    key = f"run picker {run.id}"

    def remember() -> None:
        if st.session_state[key] != run.id:  # see app.widgets.navigation.stay_at
            stay_at(replace(place or RunPlace(), run=st.session_state[key]))

    words = {each.id: _picker_words(board, each) for each in board.runs}
    st.selectbox(
        "Run",
        ids,
        index=ids.index(run.id),
        format_func=lambda run_id: words[run_id],
        key=key,
        on_change=remember,
        width=560,
    )


def show_warnings(run: RunCounts) -> None:
    """What a reader must know before the counts."""
    said, _, log_end = (run.reason or "No reason was recorded.").partition("\n")
    reason = plain(said, limit=_LONG_REASON)
    kept = f"Its {run.n_ended} sessions are kept and stand outside all rates."
    if run.run_state is RunState.INVALID:
        st.warning(f"{reason}  \n{kept}", title="Invalid: the evidence does not count")
    elif run.run_state is RunState.FAILED:
        st.warning(f"{reason}  \n{kept}", title="Failed: it says nothing of its arm")
    elif run.run_state is RunState.STOPPED:
        st.info(f"{reason}  \n{kept} Its cell is run again whole.", title="Stopped")
    elif RunFlag.IMPORTED in run.flags:
        st.info(reason, title="Made by another tool")
    if log_end.strip():
        st.code(log_end[-_LONG_LOG:], language=None, wrap_lines=True)
    if run.flags:
        st.warning(plain(f"Mind: {flag_words(run.flags)}."))


def show_live(campaign_id: int, run_id: int) -> None:
    """Counters, the curve and the five lines; drawn again every two seconds while the run moves."""
    board = reads_cache.board(campaign_id)
    run = board.run(run_id)
    counts = counts_of(run, board.campaign.corrupt_outcomes)
    show_silence(run)
    _show_counters(run, counts)
    said = reads_cache.progress(campaign_id).said_of_run(run_id)
    if said:
        st.markdown(f"{_PROGRESS} :small[{plain(said, limit=600)}]")
    if run.run_state.is_active:
        ended = f"{run.n_ended} of {run.sessions_planned} sessions ended"
        st.progress(min(1.0, run.n_ended / max(1, run.sessions_planned)), text=ended)
    if run.driving_at_us is not None:
        show_clock_strip(board, run)
    if run.n_ended or run.driving_at_us is not None:
        st.code("\n".join(_five_lines(run, counts)), language=None, wrap_lines=True)
    if run.run_state.is_active:
        st.caption(f"As of {moment_text(reads_cache.now_us())}, every 2 s")


def _show_actions(board: Board, run: RunCounts) -> None:
    link_to(LogsPlace(run=run.id), "Logs", icon=":material/subject:")
    baseline = _baseline_run(board, run)
    if baseline is not None:
        place = comparison_of(IdKind.RUN, baseline.id, run.id)
        link_to(place, "Compare with the baseline", icon=":material/compare_arrows:")
    if not run.run_state.is_active:
        return
    request = request_of_campaign(board.campaign.id)
    if request is None:
        st.caption("Started at a terminal: stop it there.", width="content")
    else:
        stop_button(request, key=f"stop run {run.id}")


def _baseline_run(board: Board, run: RunCounts) -> RunCounts | None:
    """A finished run of the baseline, of the same block where there is one."""
    arms = {arm.id for arm in board.arms if arm.is_baseline} - {run.arm_id}
    done = [each for each in board.runs if each.arm_id in arms and each.state == RunState.DONE]
    same_block = [each for each in done if each.block == run.block]
    return next(iter(same_block or done), None)


def _picker_words(board: Board, run: RunCounts) -> str:
    name = board.arm(run.arm_id).name
    # Without the state: a label that changes while the page polls would count as a choice.
    return f"{format_id(IdKind.RUN, run.id)} · {name} · block {run.block}"


def _show_counters(run: RunCounts, counts: SessionCounts) -> None:
    so_far = " so far" if run.run_state.is_active else ""
    words = corrupt_words(counts)
    elapsed = elapsed_s(run, now_us=reads_cache.now_us())
    silent = counts.silent_of_all
    peak = "unknown" if run.peak_running is None else rounded(run.peak_running, 0)
    with st.container(horizontal=True, gap="small"):
        _box("Sessions ended", f"{run.n_ended} of {run.sessions_planned}")
        _box(
            f"Corrupt{so_far}",
            words.fraction if counts.all else "–",
            words.rate,
            colour="orange" if counts.corrupt else "blue",
        )
        _box(
            f"Silent{so_far}",
            f"{counts.silent}/{counts.all}" if counts.all else "–",
            percent_text(silent) if silent is not None and silent.count else "",
            colour="violet",
        )
        _box("Peak running", peak)
        lines = f"{run.wedge_lines:,} lines" if run.wedge_lines else ""
        told = run.told_wedge_requests
        _box("Wedge requests", "–" if told is None else count_text(told), lines, colour="violet")
        _box("Wall time", "–" if elapsed is None else duration_text(elapsed))


def _box(label: str, value: str, note: str = "", *, colour: _Hue = "gray") -> None:
    """Six of them fill a wide page, two a narrow one."""
    st.metric(
        label,
        value,
        note or None,
        delta_color=colour,
        delta_arrow="off",
        border=True,
        width=_BOX_PX,
        height="stretch",
    )


def _five_lines(run: RunCounts, counts: SessionCounts) -> Sequence[str]:
    return summary_lines(
        counts,
        wall_s=elapsed_s(run, now_us=reads_cache.now_us()),
        peak_running=run.peak_running,
        wedge_lines=run.wedge_lines,
        wedge_requests=run.wedge_requests,
    )
