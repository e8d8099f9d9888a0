"""Sessions as a table with its filter, of one run or of all finished runs of an arm."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from app import reads_cache
from app.cell_reading import CellReading
from app.links import ArmPlace, RunPlace, SessionFilter, SessionPlace, address_of
from app.records import Board
from app.run_clock import run_origin_us, seconds_into
from app.widgets.navigation import stay_at
from app.wording import counted_noun, offset_text, outcome_word, reason_words
from db.identifiers import IdKind, format_id
from db.reads.runs import RunCounts
from db.reads.sessions import SessionFacts
from db.vocabulary import Outcome
from runner.evidence.wording import moment_text

_PAGE_ROWS = 200

_CHIP_HUES = {
    SessionFilter.LEAK: "orange",
    SessionFilter.NO_TOOL: "orange",
    SessionFilter.MALFORMED: "orange",
    SessionFilter.WRONG: "orange",
    SessionFilter.DEGENERATE: "orange",
    SessionFilter.ERROR: "violet",
    SessionFilter.DONE: "blue",
    SessionFilter.MAXROUNDS: "blue",
}


def show_sessions(run: RunCounts, place: RunPlace) -> None:
    """A snapshot: links carry the id, so that a row never becomes another one under the mouse."""
    with st.container(border=True, gap="xsmall"):
        _show_title()
        _pick_filter(run.counts, place, key=f"r-{run.id}")
        outcomes = place.outcome.outcomes
        total = reads_cache.session_total(run.id, outcomes=outcomes)
        if not total:
            _say_no_sessions(place, "run")
            return
        page = _pick_page(total, key=f"sessions r-{run.id} {place.outcome}")
        found = reads_cache.run_sessions(
            run.id, outcomes=outcomes, limit=_PAGE_ROWS, offset=(page - 1) * _PAGE_ROWS
        )
        _show_rows(found, [run], place.outcome, with_run=False)


def show_sessions_of_arm(board: Board, cell: CellReading, place: ArmPlace) -> None:
    """Of the finished runs, which are those that count; by the time at which they ended."""
    counts = {str(outcome): sum(run.counts[outcome] for run in cell.done) for outcome in Outcome}
    with st.container(border=True, gap="xsmall"):
        _show_title()
        _pick_filter(counts, place, key=f"a-{cell.arm.id}")
        outcomes = place.outcome.outcomes or tuple(Outcome)
        total = sum(counts[outcome] for outcome in outcomes)
        if not total:
            _say_no_sessions(place, "arm")
            return
        page = _pick_page(total, key=f"sessions a-{cell.arm.id} {place.outcome}")
        found = reads_cache.sessions_of_runs(
            [run.id for run in cell.done],
            outcomes=[str(outcome) for outcome in outcomes],
            limit=_PAGE_ROWS,
            offset=(page - 1) * _PAGE_ROWS,
        )
        _show_rows(found, cell.done, place.outcome, with_run=True)


def _show_title() -> None:
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        st.markdown("##### Sessions", width="content")
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            st.caption(f"as of {moment_text(reads_cache.now_us())}", width="content")
            st.button("Refresh", icon=":material/refresh:", type="tertiary")


def _pick_page(total: int, *, key: str) -> int:
    pages = -(-total // _PAGE_ROWS)
    return st.pagination(pages, key=key) if pages > 1 else 1


def _pick_filter(counts: Mapping[str, int], place: RunPlace | ArmPlace, *, key: str) -> None:
    key = f"outcome filter {key} {place.outcome}"

    def remember() -> None:
        stay_at(replace(place, outcome=st.session_state[key] or place.outcome))

    numbers = {
        word: sum(counts[outcome] for outcome in word.outcomes or tuple(Outcome))
        for word in SessionFilter
    }
    options = [word for word in SessionFilter if numbers[word] or word is place.outcome]
    st.pills(
        "Outcome",
        options,
        default=place.outcome,
        format_func=lambda word: f"{outcome_word(word)} {numbers[word]}",
        label_visibility="collapsed",
        required=True,
        key=key,
        on_change=remember,
    )


def _say_no_sessions(place: RunPlace | ArmPlace, of_what: str) -> None:
    if place.outcome is SessionFilter.ALL:
        st.caption(f"No session of this {of_what} has ended yet.")
        return
    st.caption(f"No session of this {of_what} is {outcome_word(place.outcome)}.")
    everything = replace(place, outcome=SessionFilter.ALL)
    st.button("Show all sessions", on_click=stay_at, args=(everything,), type="tertiary")


def _show_rows(
    sessions: Sequence[SessionFacts],
    runs: Sequence[RunCounts],
    outcome: SessionFilter,
    *,
    with_run: bool,
) -> None:
    shown = {session.run_id for session in sessions}
    origins = {run.id: _origin_us(run) for run in runs if run.id in shown}
    rows = [_session_row(session, outcome, origins[session.run_id]) for session in sessions]
    frame = pd.DataFrame(rows)
    if with_run:
        names = [format_id(IdKind.RUN, session.run_id) for session in sessions]
        frame.insert(1, "run", names)
    st.dataframe(
        frame,
        hide_index=True,
        row_height=28,
        height=min(560, 38 + 28 * len(rows)),
        column_config={
            "session": st.column_config.LinkColumn(
                display_text=r"session=(s-\d+)", help="Opens in a new tab", width=70
            ),
            "what": st.column_config.TextColumn(width=300),
            "first token": st.column_config.NumberColumn(format="%.2f s"),
            "outcome": st.column_config.MultiselectColumn(
                options=[outcome_word(word) for word in SessionFilter],
                color=[_CHIP_HUES.get(word, "gray") for word in SessionFilter],
                width=110,
            ),
        },
        alt=f"{counted_noun(len(rows), 'session')}",
    )


def _origin_us(run: RunCounts) -> int:
    return run_origin_us(run, reads_cache.session_spans(run.id))


def _session_row(session: SessionFacts, outcome: SessionFilter, origin_us: int) -> dict[str, Any]:
    address = address_of(SessionPlace(session=session.id, outcome=outcome))
    said = session.detail or (reason_words(session.reason) if session.reason else "")
    turn = "" if session.decisive_turn is None else f"turn {session.decisive_turn + 1}: "
    return {
        "session": address,
        "outcome": [outcome_word(session.outcome)],
        "what": turn + said if said else "",
        "rounds": f"{session.rounds_completed}/{session.rounds_planned}",
        "first token": session.first_token_s,
        "tokens": session.completion_tokens,
        "host cached": session.host_cached_tokens,
        "ended": offset_text(seconds_into(session.ended_at_us, origin_us)),
        "dialogue": session.dialogue_key,
    }
