"""The right-hand drawer of the matrix: one cell's counts, runs and corrupt sessions, all linked."""

from dataclasses import replace

import streamlit as st

from app import reads_cache
from app.cell_reading import CellReading, counts_of
from app.figures.outcome_bar import outcome_bar
from app.links import ArmPlace, MatrixPlace, RunPlace, SessionPlace, comparison_of
from app.markdown_text import badge, plain
from app.palette import palette_for
from app.records import Board
from app.widgets.navigation import link_to, stay_at
from app.widgets.panel_title import panel_title
from app.wording import (
    SECOND_US,
    corrupt_words,
    levels_text,
    offset_text,
    outcome_badge,
    reason_words,
    state_badge,
)
from db.identifiers import IdKind, format_id
from db.reads.runs import RunCounts
from db.reads.sessions import SessionFacts
from db.vocabulary import RunState
from runner.evidence.wording import evidence_text, silent_text

_SHOWN_SESSIONS = 8
_SHOWN_RUNS = 12


def show_drawer(
    board: Board,
    reading: CellReading,
    baseline: CellReading | None,
    picked: CellReading | None,
    place: MatrixPlace,
) -> None:
    """`picked` is the cell that was taken first, to be compared with this one."""
    with st.container(border=True, gap="small"):
        _show_head(reading)
        if reading.has_evidence:
            st.plotly_chart(
                outcome_bar(reading.counts, palette_for(st.context.theme.type)),
                config={"displayModeBar": False},
                alt="Sessions of this cell: corrupt, clean and silent, with the limits of the rate",
            )
        _show_numbers(reading)
        _show_runs(board, reading)
        _show_corrupt_sessions(board, reading)
        _show_next(reading, baseline, picked, place)


def show_no_cell() -> None:
    st.caption("Click a cell for its runs and its corrupt sessions.")


def _show_head(reading: CellReading) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", gap="xsmall"):
        panel_title(plain(reading.arm.name), fits=True)
        marks = []
        if reading.is_wedged:
            marks.append(badge("wedged", colour="violet", icon=":material/hourglass_disabled:"))
        if reading.is_not_exercised:
            marks.append(badge("not exercised", colour="yellow", icon=":material/warning:"))
        if marks:
            st.markdown(" ".join(marks), width="content")
    about = levels_text(reading.arm.levels)
    tag = f" · {reading.arm.tag}" if reading.arm.tag else ""
    base = " · baseline" if reading.arm.is_baseline else ""
    st.caption(plain(about + tag + base))


def _show_numbers(reading: CellReading) -> None:
    counts = reading.counts
    if not reading.has_evidence:
        st.markdown("No finished run yet, so there is no rate.")
        return
    words = corrupt_words(counts)
    rows = {
        "All sessions": f"**{words.fraction} corrupt**, {words.rate}",
        "Gave evidence": evidence_text(counts),
    }
    if counts.silent:
        reasons = reads_cache.silent_reasons(reading.done)
        told = ", ".join(f"{number} {reason_words(why)}" for why, number in reasons.items())
        rows["Silent"] = silent_text(counts) + (f": {plain(told)}" if told else "")
    rows["Wedges"] = _wedge_words(reading)
    rows["Harness errors"] = str(counts.harness_errors)
    st.table(rows, border="horizontal", hide_header=True)


def _wedge_words(reading: CellReading) -> str:
    spans = [run.wedges for run in reading.done if run.wedges is not None]
    if not spans and reading.done and all(r.told_wedge_requests is None for r in reading.done):
        return "–"
    said = f"{sum(spans)} spans, " if spans else ""
    return f"{said}{reading.wedge_requests:,} requests, {reading.wedge_lines:,} lines"


def _show_runs(board: Board, reading: CellReading) -> None:
    panel_title("Runs")
    every = [*reading.done, *([reading.active] if reading.active else []), *reading.left_out]
    if not every:
        st.caption("None was started." if reading.waiting else "None is planned.")
    for run in every[:_SHOWN_RUNS]:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            link_to(RunPlace(run=run.id), f"{format_id(IdKind.RUN, run.id)} · block {run.block}")
            words = f"{state_badge(run.run_state)} :small[{_run_words(board, run)}]"
            st.markdown(words, width="content")
    if len(every) > _SHOWN_RUNS:
        label = f"All {len(every)} runs of this arm"
        link_to(ArmPlace(arm=reading.arm.id), label, icon=":material/stacks:")
    if reading.waiting:
        st.caption(f"{reading.waiting} more planned")


def _run_words(board: Board, run: RunCounts) -> str:
    counts = counts_of(run, board.campaign.corrupt_outcomes)
    if run.run_state is RunState.DONE:
        silent = silent_text(counts)
        return f"**{corrupt_words(counts).fraction}**" + (f" · {silent}" if silent else "")
    if run.run_state.is_active:
        return f":gray[{run.n_ended} of {run.sessions_planned} ended]"
    return f":gray[not counted: {plain(run.reason or 'no reason recorded')}]"


def _show_corrupt_sessions(board: Board, reading: CellReading) -> None:
    if not reading.counts.corrupt:
        return
    sessions = reads_cache.sessions_of_runs(
        reading.done,
        outcomes=board.campaign.corrupt_outcomes,
        limit=_SHOWN_SESSIONS,
    )
    panel_title(f"Corrupt sessions :gray[{_how_many(reading, len(sessions))}]")
    for session in sessions:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            place = SessionPlace(session=session.id, q=f"run:{session.run_id} outcome:corrupt")
            link_to(place, format_id(IdKind.SESSION, session.id))
            words = f"{outcome_badge(session.outcome)} :small[:gray[{_where(session, reading)}]]"
            st.markdown(words, width="content")
    for run in reading.done[:_SHOWN_RUNS]:
        if counts_of(run, board.campaign.corrupt_outcomes).corrupt:
            label = f"All corrupt of {format_id(IdKind.RUN, run.id)}"
            link_to(RunPlace(run=run.id, q="outcome:corrupt"), label)


def _how_many(reading: CellReading, shown: int) -> str:
    corrupt = reading.counts.corrupt
    return f"first {shown} of {corrupt}, by end" if shown < corrupt else "by end"


def _where(session: SessionFacts, reading: CellReading) -> str:
    run = next(run for run in reading.done if run.id == session.run_id)
    parts = []
    if session.decisive_turn is not None:
        parts.append(f"turn {session.decisive_turn + 1}")
    if run.driving_at_us is not None and session.is_timed:
        parts.append(offset_text((session.ended_at_us - run.driving_at_us) / SECOND_US))
    return " · ".join(parts)


def _show_next(
    reading: CellReading,
    baseline: CellReading | None,
    picked: CellReading | None,
    place: MatrixPlace,
) -> None:
    if picked is not None:
        _show_picked(reading, picked, place)
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        link_to(ArmPlace(arm=reading.arm.id), "Open the arm", icon=":material/stacks:")
        if baseline is not None and baseline.done and reading.done and baseline != reading:
            pair = comparison_of(IdKind.ARM, baseline.arm.id, reading.arm.id)
            link_to(pair, "Compare with the baseline", icon=":material/compare_arrows:")
        if picked is None and reading.done:
            st.button(
                "Compare with another cell",
                icon=":material/ads_click:",
                type="tertiary",
                on_click=stay_at,
                args=(replace(place, pick=reading.arm.id),),
            )
        st.button(
            "Close",
            icon=":material/close:",
            type="tertiary",
            on_click=stay_at,
            args=(replace(place, arm=None, pick=None),),
        )


def _show_picked(reading: CellReading, picked: CellReading, place: MatrixPlace) -> None:
    """The two cells by name with the way to their comparison, or what is still to be done."""
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"**A** {plain(picked.arm.name)}")
        if picked.arm.id == reading.arm.id:
            st.caption("Click the cell to compare it with, or open it in the table.")
        elif picked.done and reading.done:
            st.markdown(f"**B** {plain(reading.arm.name)}")
            pair = comparison_of(IdKind.ARM, picked.arm.id, reading.arm.id)
            link_to(pair, "**Compare A with B**", icon=":material/compare_arrows:")
        else:
            st.caption("Both cells need a finished run to be compared.")
        st.button(
            "Forget A",
            icon=":material/close:",
            type="tertiary",
            on_click=stay_at,
            args=(replace(place, pick=None),),
        )
