"""Parts of the page about one hypothesis: its rule word for word, its numbers, runs and history."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app import reads_cache
from app.cell_reading import CellReading
from app.figures.outcome_bar import outcome_bar
from app.links import MatrixPlace, RunPlace, comparison_of
from app.markdown_text import plain
from app.palette import palette_for
from app.records import Board
from app.verdict_history import history_rows
from app.widgets.navigation import link_to
from app.widgets.overview_parts import NO_BAR
from app.widgets.panel_title import panel_title
from app.wording import corrupt_words, levels_text, state_badge
from db.identifiers import IdKind, format_id
from db.reads.campaigns import VerdictFacts
from runner.evidence.wording import evidence_text, moment_text, silent_text

_SHOWN_RUNS = 12
_RULE_WORDS = {
    "claim": "claim",
    "tolerate": "tolerate",
    "alpha": "alpha",
    "rho_floor": "icc_floor",
    "background": "background",
    "predicted_rate": "predicted_rate",
    "ending": "stop",
}


def show_rule(board: Board, facts: VerdictFacts) -> None:
    """What was written down, as it was stored; with what the judge took besides."""
    with st.container(border=True, gap="xsmall", height="stretch"):
        is_early = facts.is_registered
        when = "before the first run" if is_early else "after the first run: exploratory"
        panel_title(f"Rule, written down {when}")
        st.code(rule_text(board, facts), language=None, wrap_lines=True)
        st.caption(
            plain(
                f"{board.campaign.source_path}, stored {moment_text(board.campaign.created_at_us)}"
            )
        )


def rule_text(board: Board, facts: VerdictFacts) -> str:
    lines = [
        f"id:        {facts.slug}",
        f"claim:     {facts.claim}",
        f"arm:       {levels_text(board.arm(facts.arm_id).levels)}",
        f"versus:    {levels_text(board.arm(facts.versus_arm_id).levels)}",
        f"predict:   {facts.predict}",
        f"tolerate:  {facts.tolerate:g}",
    ]
    rule: Mapping[str, Any] = facts.rule or {}
    told = [
        f"{word} {rule[name]}"
        for name, word in _RULE_WORDS.items()
        if name not in ("claim", "tolerate") and rule.get(name) is not None
    ]
    return "\n".join([*lines, *(["judged with: " + ", ".join(told)] if told else [])])


def show_both_arms(board: Board, arm: CellReading, versus: CellReading) -> None:
    palette = palette_for(st.context.theme.type)
    with st.container(border=True, gap="xsmall", height="stretch"):
        panel_title("What the sessions can say")
        for title, cell in (("arm", arm), ("compared with", versus)):
            place = MatrixPlace(campaign=board.campaign.id, arm=cell.arm.id)
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                st.markdown(f":gray[{title}]", width="content")
                link_to(place, f"**{plain(cell.arm.name)}**")
            if not cell.has_evidence:
                st.caption("No finished run yet.")
                continue
            st.plotly_chart(
                outcome_bar(cell.counts, palette),
                config=NO_BAR,
                key=f"bar {title}",
                alt=f"Sessions of the {title}: corrupt, clean, silent",
            )
        st.table(_number_rows(arm, versus), border="horizontal", hide_index=True)


def show_runs_of(board: Board, arm: CellReading, versus: CellReading) -> None:
    """Both arms' runs, each linked, those that do not count with why."""
    with st.container(border=True, gap="xsmall", height="stretch"):
        panel_title("Runs it rests on")
        for cell in (arm, versus):
            st.caption(plain(cell.arm.name))
            every = [*cell.done, *cell.left_out]
            if len(every) > _SHOWN_RUNS:
                st.caption(f"The last {_SHOWN_RUNS} of {len(every)} runs.")
            for run in every[-_SHOWN_RUNS:]:
                with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                    label = f"{format_id(IdKind.RUN, run.id)} · block {run.block}"
                    link_to(RunPlace(run=run.id), label)
                    why = "" if run in cell.done else f" :small[{plain(run.reason or '')}]"
                    st.markdown(state_badge(run.run_state) + why, width="content")
        if arm.done and versus.done:
            pair = comparison_of(IdKind.ARM, versus.arm.id, arm.arm.id)
            link_to(pair, "Compare the two arms", icon=":material/compare_arrows:")


def show_history(facts: VerdictFacts) -> None:
    rows = history_rows(reads_cache.judgements(facts.hypothesis_id))
    with st.expander(f"History of this verdict ({len(rows)} judged)"):
        if rows:
            st.dataframe(pd.DataFrame(rows), hide_index=True, row_height=28, alt="History")
        else:
            st.caption("It was not judged yet.")


def _number_rows(arm: CellReading, versus: CellReading) -> pd.DataFrame:
    def row(name: str, words: dict[str, str]) -> dict[str, str]:
        return {"": name, **words}

    sides = {"arm": arm, "compared with": versus}
    return pd.DataFrame(
        [
            row("corrupt of all", {name: _corrupt(cell) for name, cell in sides.items()}),
            row("evidence", {name: evidence_text(cell.counts) for name, cell in sides.items()}),
            row("silent", {n: silent_text(cell.counts) or "none" for n, cell in sides.items()}),
            row("wedge requests", {n: str(cell.wedge_requests) for n, cell in sides.items()}),
            row("runs", {name: str(len(cell.done)) for name, cell in sides.items()}),
        ]
    )


def _corrupt(cell: CellReading) -> str:
    words = corrupt_words(cell.counts)
    return f"**{words.fraction}** {words.rate}"
