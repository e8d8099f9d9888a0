"""What a run left behind: its sessions, its log events, and the proof that the arm was there."""

import json

import pandas as pd
import streamlit as st

from app import reads_cache
from app.links import SessionPlace
from app.markdown_text import plain
from app.proof_rows import (
    check_rows,
    command_text,
    exposure_rows,
    flood_sentence,
    health_rows,
)
from app.records import RunRecord
from app.run_clock import run_origin_us, seconds_into
from app.widgets.navigation import link_to
from app.widgets.panel_title import panel_title
from app.widgets.raw_download import raw_button
from app.wording import counted_noun, offset_text, reason_words
from db.identifiers import IdKind, format_id
from db.reads.observations import RawFacts
from db.reads.runs import RunCounts
from db.vocabulary import RunState
from runner.evidence.wording import moment_text

_TAIL_LINES = 60
_SHORT_TAIL_LINES = 9


def show_silent_reasons(run: RunCounts) -> None:
    """Why sessions gave no evidence, the commonest reason first, each with a session to open."""
    if not run.n_error:
        return
    with st.container(border=True, gap="xsmall"):
        panel_title(f"Why {counted_noun(run.n_error, 'session')} gave no evidence")
        for reason, number in reads_cache.silent_reasons([run]).items():
            share = f":gray[{number} of {run.n_error}]"
            st.markdown(f"**{plain(reason_words(reason))}** {share}")
        first = reads_cache.run_sessions(run.id, outcomes=["error"], limit=1, offset=0)
        for session in first:
            place = SessionPlace(session=session.id, q=f"run:{run.id} outcome:silent")
            link_to(place, f"Open {format_id(IdKind.SESSION, session.id)}, the first of them")


def show_proof(run: RunCounts, record: RunRecord) -> None:
    """Expected and found of every check, then what was exercised, then the client's own health."""
    proof = record.proof
    with st.container(border=True, gap="xsmall"):
        panel_title("Arm, expected and found")
        checks = check_rows(proof.verification)
        if checks:
            st.table(pd.DataFrame(checks), border="horizontal", hide_index=True)
        else:
            st.caption(_not_verified(run))
        exercised = exposure_rows(proof.exposure)
        if exercised:
            panel_title("Paths that were used")
            st.table(pd.DataFrame(exercised), border="horizontal", hide_index=True)
        flooded = flood_sentence(proof.exposure)
        if flooded is not None:
            st.caption(flooded)
        if proof.client_health:
            panel_title("The client itself")
            rows = health_rows(proof.client_health)
            st.table(rows, border="horizontal", hide_header=True)


def _not_verified(run: RunCounts) -> str:
    if run.run_state is RunState.DONE:
        return "Its stack verifies no factor of this arm: what ran is what was asked for, unproven."
    if run.run_state.is_terminal:
        return "It ended before anything could be verified."
    return "Nothing was verified yet."


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
            with st.container(height=260, border=False):
                st.code(_pretty(fingerprint.facts), language=None, wrap_lines=True)
        for (kind, source), pieces in _by_source(record.raw).items():
            label = f"{kind.replace('_', ' ')} of {plain(source or 'the service')}"
            raw_button(pieces, label, file_name=f"{kind}-{source or 'service'}.txt")


def show_log_events(run: RunCounts) -> None:
    with st.container(border=True, gap="xsmall"):
        panel_title("Log events")
        kinds = reads_cache.log_event_counts(run.id)
        if kinds.empty:
            so_far = "" if run.run_state.is_terminal else " so far"
            st.caption(f"No line of the server's log meant anything{so_far}.")
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
        with st.container(height=220 if is_long else "content", border=False):
            st.code("\n".join(lines), language=None, wrap_lines=True)


def _by_source(raw: list[RawFacts]) -> dict[tuple[str, str | None], list[RawFacts]]:
    pieces: dict[tuple[str, str | None], list[RawFacts]] = {}
    for piece in raw:
        pieces.setdefault((piece.kind, piece.service), []).append(piece)
    return pieces


def _pretty(facts: object) -> str:
    return json.dumps(facts, indent=2, ensure_ascii=False, default=str)
