"""What a run left behind: its sessions, its log events, and the proof that the arm was there."""

import json
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from app import reads_cache
from app.links import RunPlace, SessionFilter, SessionPlace, address_of
from app.markdown_text import plain
from app.proof_rows import check_rows, command_text, exposure_rows, health_rows
from app.records import RunRecord
from app.run_clock import run_origin_us, seconds_into
from app.widgets.navigation import stay_at
from app.widgets.raw_download import raw_button
from app.wording import offset_text, outcome_word, reason_words
from db.identifiers import IdKind, format_id
from db.reads.observations import RawFacts
from db.reads.runs import RunCounts
from db.reads.sessions import SessionFacts
from runner.evidence.wording import moment_text

_PAGE_ROWS = 200
_TAIL_LINES = 60
_SHORT_TAIL_LINES = 9


def show_sessions(run: RunCounts, place: RunPlace) -> None:
    """A snapshot: links carry the id, so that a row never becomes another one under the mouse."""
    with st.container(border=True, gap="xsmall"):
        with st.container(
            horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
        ):
            st.markdown("##### Sessions", width="content")
            with st.container(horizontal=True, vertical_alignment="center", width="content"):
                st.caption(f"as of {moment_text(reads_cache.now_us())}", width="content")
                st.button("Refresh", icon=":material/refresh:", type="tertiary")
        _pick_filter(run, place)
        outcomes = place.outcome.outcomes
        total = reads_cache.session_total(run.id, outcomes=outcomes)
        if not total:
            _say_no_sessions(run, place)
            return
        pages = -(-total // _PAGE_ROWS)
        page = st.pagination(pages, key=f"sessions {run.id} {place.outcome}") if pages > 1 else 1
        rows = reads_cache.run_sessions(
            run.id, outcomes=outcomes, limit=_PAGE_ROWS, offset=(page - 1) * _PAGE_ROWS
        )
        _show_rows(run, rows, place)


def show_proof(record: RunRecord) -> None:
    """Expected and found of every check, then what was exercised, then the client's own health."""
    proof = record.proof
    with st.container(border=True, gap="xsmall"):
        st.markdown("##### Arm, expected and found")
        checks = check_rows(proof.verification)
        if checks:
            st.table(pd.DataFrame(checks), border="horizontal", hide_index=True)
        else:
            st.caption("Nothing was verified yet.")
        exercised = exposure_rows(proof.exposure)
        if exercised:
            st.markdown("##### Paths that were used")
            st.table(pd.DataFrame(exercised), border="horizontal", hide_index=True)
        if proof.client_health:
            st.markdown("##### The client itself")
            rows = health_rows(proof.client_health)
            st.table(rows, border="horizontal", hide_header=True)


def show_launch(record: RunRecord) -> None:
    launch = record.launch
    if launch is None:
        return
    with st.expander("Servers of this run"):
        name = format_id(IdKind.LAUNCH, launch.id)
        st.caption(f"{name} · started {moment_text(launch.started_at_us)}")
        for service, command in launch.commands.items():
            st.caption(plain(str(service)))
            st.code(command_text(command), language=None, wrap_lines=True)
        for fingerprint in record.fingerprints:
            st.caption(plain(f"{fingerprint.service} says of itself"))
            st.code(_pretty(fingerprint.facts), language=None, height=260)
        for (kind, source), pieces in _by_source(record.raw).items():
            label = f"{kind.replace('_', ' ')} of {plain(source or 'the service')}"
            raw_button(pieces, label, file_name=f"{kind}-{source or 'service'}.txt")


def show_log_events(run: RunCounts) -> None:
    with st.container(border=True, gap="xsmall"):
        st.markdown("##### Log events")
        kinds = reads_cache.log_event_counts(run.id)
        if kinds.empty:
            st.caption("No line of the server's log meant anything so far.")
            return
        shown = kinds.assign(kind=kinds["kind"].str.replace("_", " "))
        st.dataframe(
            shown.rename(columns={"event_class": "class"}),
            hide_index=True,
            row_height=28,
            alt="Log events by kind",
        )
        origin_us = run_origin_us(run, reads_cache.session_spans(run.id))
        events = reads_cache.log_events(run.id, limit=_TAIL_LINES)
        offsets = [offset_text(seconds_into(event.at_us, origin_us)) for event in events]
        lines = [
            f"{offset:>10}  {event.service}  {event.line}"
            for offset, event in zip(offsets, events, strict=True)
        ]
        is_long = len(lines) > _SHORT_TAIL_LINES
        st.code("\n".join(lines), language=None, height=220 if is_long else "content")


def _pick_filter(run: RunCounts, place: RunPlace) -> None:
    key = f"outcome filter {run.id} {place.outcome}"

    def remember() -> None:
        stay_at(replace(place, outcome=st.session_state[key] or place.outcome))

    numbers = _filter_counts(run)
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


def _filter_counts(run: RunCounts) -> dict[SessionFilter, int]:
    return {
        word: sum(run.counts[outcome] for outcome in word.outcomes)
        if word.outcomes
        else run.n_ended
        for word in SessionFilter
    }


def _say_no_sessions(run: RunCounts, place: RunPlace) -> None:
    if place.outcome is SessionFilter.ALL:
        st.caption("No session of this run has ended yet.")
        return
    st.caption(f"No session of this run is {outcome_word(place.outcome)}.")
    everything = replace(place, outcome=SessionFilter.ALL)
    st.button("Show all sessions", on_click=stay_at, args=(everything,), type="tertiary")


def _show_rows(run: RunCounts, sessions: list[SessionFacts], place: RunPlace) -> None:
    origin_us = run_origin_us(run, reads_cache.session_spans(run.id))
    rows = [_session_row(session, place, origin_us) for session in sessions]
    st.dataframe(
        pd.DataFrame(rows),
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
        alt="Sessions of this run",
    )


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


def _session_row(session: SessionFacts, place: RunPlace, origin_us: int) -> dict[str, Any]:
    address = address_of(SessionPlace(session=session.id, outcome=place.outcome))
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


def _by_source(raw: list[RawFacts]) -> dict[tuple[str, str | None], list[RawFacts]]:
    pieces: dict[tuple[str, str | None], list[RawFacts]] = {}
    for piece in raw:
        pieces.setdefault((piece.kind, piece.service), []).append(piece)
    return pieces


def _pretty(facts: object) -> str:
    return json.dumps(facts, indent=2, ensure_ascii=False, default=str)
