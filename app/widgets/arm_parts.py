"""Parts of the page about one arm: counts, drift over its runs, waits, load, dialogues."""

from collections.abc import Sequence

import streamlit as st

from app import reads_cache
from app.arm_pictures import block_bars_of, dose_points
from app.cell_reading import CellReading
from app.figures.block_bars import block_bars
from app.figures.dose_line import dose_line
from app.figures.latency_steps import WaitedLine, latency_steps
from app.figures.outcome_bar import outcome_bar
from app.links import ReportPlace, RunPlace, SessionPlace, comparison_of
from app.markdown_text import badge, plain
from app.palette import palette_for
from app.records import Board
from app.widgets.navigation import link_to
from app.widgets.overview_parts import NO_BAR
from app.widgets.panel_title import panel_title
from app.wording import corrupt_words, counted_noun, levels_text, outcome_badge, state_badge
from db.identifiers import IdKind, format_id
from db.reads.runs import RunCounts, newest_runs
from db.vocabulary import Outcome
from runner.evidence.wording import evidence_text, silent_text

NOT_EXERCISED = badge("not exercised", colour="yellow", icon=":material/warning:")
_SHOWN_DIALOGUES = 10
_SHOWN_RUNS = 8
_WAITED_SESSIONS = 2000
_LED_SESSIONS = 5000


def show_head(cell: CellReading) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title(plain(cell.arm.name), width="content", anchor=False)
        marks = [badge("baseline", colour="gray")] if cell.arm.is_baseline else []
        if cell.is_wedged:
            marks.append(badge("wedged", colour="violet", icon=":material/hourglass_disabled:"))
        if cell.is_not_exercised:
            marks.append(NOT_EXERCISED)
        if marks:
            st.markdown(" ".join(marks), width="content")
    st.caption(plain(levels_text(cell.arm.levels)))
    if cell.is_not_exercised:
        st.caption(
            "Some finished run of this arm never used the path that a factor is about; its "
            "sessions say nothing about that factor."
        )


def show_counts(cell: CellReading) -> None:
    with st.container(border=True, gap="xsmall", height="stretch"):
        panel_title("Sessions of all finished runs")
        if not cell.has_evidence:
            st.caption("No finished run yet, so there is no rate.")
            return
        st.plotly_chart(
            outcome_bar(cell.counts, palette_for(st.context.theme.type)),
            config=NO_BAR,
            key="arm bar",
            alt="Sessions of this arm: corrupt, clean and silent",
        )
        words = corrupt_words(cell.counts)
        rows = {
            "All sessions": f"**{words.fraction} corrupt**, {words.rate}",
            "Gave evidence": evidence_text(cell.counts),
            "Silent": silent_text(cell.counts) or "none",
            "Harness errors": str(cell.counts.harness_errors),
        }
        rows |= {
            outcome_badge(outcome): f"{number:,}"
            for outcome in Outcome
            if (number := cell.counts[outcome])
        }
        st.table(rows, border="horizontal", hide_header=True)


def show_drift(board: Board, cell: CellReading) -> None:
    with st.container(border=True, gap="xsmall", height="stretch"):
        panel_title("Outcomes run by run")
        bars = block_bars_of(cell, board.campaign.corrupt_outcomes)[-_SHOWN_RUNS:]
        if not bars:
            st.caption("No finished run yet.")
        else:
            st.plotly_chart(
                block_bars(bars, palette_for(st.context.theme.type)),
                config=NO_BAR,
                key="drift",
                alt="Corrupt, clean and silent sessions of each run in the order of the clock",
            )
        every = [*cell.done, *([cell.active] if cell.active else []), *cell.left_out]
        if len(every) > _SHOWN_RUNS:
            st.caption(f"The last {_SHOWN_RUNS} of {counted_noun(len(every), 'run')}.")
        for run in every[-_SHOWN_RUNS:]:
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                label = f"{format_id(IdKind.RUN, run.id)} · block {run.block}"
                link_to(RunPlace(run=run.id), label)
                why = f" :small[:gray[{plain(run.reason)}]]" if run.reason else ""
                st.markdown(state_badge(run.run_state) + why, width="content")


def show_waits(cell: CellReading, baseline: CellReading | None) -> None:
    with st.container(border=True, gap="xsmall", height="stretch"):
        panel_title("Wait for the first token")
        lines = [
            WaitedLine(name, waits)
            for name, each in (("this arm", cell), ("baseline", baseline))
            if each is not None and (name == "this arm" or each.arm.id != cell.arm.id)
            if (waits := reads_cache.first_token_waits(_waited_in(each)))
        ]
        if not lines:
            st.caption("No session of a finished run had a first token.")
            return
        st.plotly_chart(
            latency_steps(lines, palette_for(st.context.theme.type)),
            config=NO_BAR,
            key="waits",
            alt="Share of sessions with a first token within so many seconds",
        )
        lines_said = ["Sessions without a first token are in no line: they are counted as silent."]
        if len(_waited_in(cell)) < len(cell.done):
            runs = counted_noun(len(cell.done), "finished run")
            lines_said.append(f"The last {len(_waited_in(cell)):,} of {runs}.")
        st.caption(" ".join(lines_said))


def _waited_in(cell: CellReading) -> list[RunCounts]:
    return newest_runs(cell.done, at_most_sessions=_WAITED_SESSIONS)


def show_dose(cell: CellReading, cells: Sequence[CellReading]) -> None:
    points = dose_points(cell, cells)
    with st.container(border=True, gap="xsmall", height="stretch"):
        panel_title("Corrupt rate over concurrency")
        if not points:
            st.caption("The same levels were run at one concurrency only.")
            return
        st.plotly_chart(
            dose_line(points, palette_for(st.context.theme.type)),
            config=NO_BAR,
            key="dose",
            alt="Corrupt rate of the same levels at each concurrency, with intervals",
        )
        st.caption(
            "Same levels, other loads; 95 % Wilson intervals, silent both ways. That it rises is "
            "claimed by verdicts only."
        )


def show_dialogues(board: Board, cell: CellReading) -> None:
    corrupt = board.campaign.corrupt_outcomes
    runs = newest_runs(cell.done, at_most_sessions=_LED_SESSIONS)
    found = reads_cache.failing_dialogues(runs, outcomes=corrupt)
    with st.container(border=True, gap="xsmall", height="stretch"):
        panel_title("Dialogues that fail most")
        if not found:
            st.caption("No dialogue of a finished run was corrupt.")
        for each in found[:_SHOWN_DIALOGUES]:
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                link_to(SessionPlace(session=each.session_id), plain(each.dialogue_key))
                times = f"corrupt in {each.corrupt} of {counted_noun(len(runs), 'run')}"
                st.markdown(f":small[:gray[{times}]]", width="content")
        if len(runs) < len(cell.done):
            of = counted_noun(len(cell.done), "finished run")
            st.caption(f"The last {len(runs):,} of {of}.")


def show_again(board: Board, cell: CellReading, baseline: CellReading | None) -> None:
    """The command that plays this arm again, and the comparison with the baseline."""
    with st.container(border=True, gap="xsmall", height="stretch"):
        panel_title("Run it again")
        st.code(f"decisive run {board.campaign.name}", language=None, wrap_lines=True)
        st.caption(
            "Runs what is missing of the campaign, in the order of its seed; finished runs stay. "
            f"Order seed {board.campaign.order_seed}."
        )
        if baseline is not None and baseline.done and cell.done and baseline.arm != cell.arm:
            pair = comparison_of(IdKind.ARM, baseline.arm.id, cell.arm.id)
            link_to(pair, "Compare with the baseline", icon=":material/compare_arrows:")
        link_to(ReportPlace(arm=cell.arm.id), "Report", icon=":material/description:")
