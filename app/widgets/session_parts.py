"""The parts of the session page around its turns: title, answer, pager, timeline, twins."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app import reads_cache
from app.figures.timeline import session_timeline
from app.links import ReportPlace, SessionPlace, SessionsPlace, address_of, comparison_of
from app.markdown_text import plain
from app.metric_series import REQUEST_GAUGES, in_flight, request_series
from app.palette import palette_for
from app.run_clock import run_origin_us, seconds_into
from app.session_events import end_mark, turn_bars
from app.session_filter import (
    CHIPS,
    Steps,
    picked_chip,
    read_session_filter,
    steps_among,
    with_chip,
)
from app.widgets.navigation import go_to, link_to
from app.widgets.panel_title import panel_title
from app.wording import (
    SECOND_US,
    counted_noun,
    offset_text,
    outcome_badge,
    outcome_word,
    reason_words,
)
from db.filters.terms import Filter, number_term
from db.identifiers import IdKind, format_id
from db.reads.runs import RunCounts
from db.reads.session_search import ListedSession
from db.reads.sessions import SessionFacts, TurnFacts, TwinFacts
from db.vocabulary import Outcome, OutcomeClass
from runner.evidence.wording import moment_text

_AROUND_S = 5.0


def show_title(session: SessionFacts, place: SessionPlace, campaign_id: int) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            st.title(format_id(IdKind.SESSION, session.id), width="content", anchor=False)
            st.markdown(outcome_badge(session.outcome), width="content")
            st.markdown(f":small[:gray[{_about(session)}]]", width="content")
            report = ReportPlace(session=session.id)
            link_to(report, ":small[Report]", icon=":material/description:")
        _show_pager(session, place, campaign_id)


def show_answer_first(session: SessionFacts) -> None:
    """The one sentence: what was due and what came."""
    found = Outcome(session.outcome).outcome_class
    where = "" if session.decisive_turn is None else f"Turn {session.decisive_turn + 1}: "
    said = session.detail or _plain_end(session)
    if found is OutcomeClass.CORRUPT:
        st.error(plain(said), title=f"{where}{outcome_word(session.outcome)}", icon="")
    elif found is OutcomeClass.CLEAN:
        st.markdown(f":blue[:material/check:] {plain(said)}")
    else:
        reason = f" ({reason_words(session.reason)})" if session.reason else ""
        st.markdown(f"{outcome_badge(session.outcome)} {where}{plain(said + reason)}")
        if found is OutcomeClass.SILENT:
            st.caption("This session says nothing about corruption: it is in neither rate.")


def show_timeline(session: SessionFacts, turns: Sequence[TurnFacts], run: RunCounts) -> None:
    """The turns on the clock of the run, with the requests that were in flight meanwhile."""
    panel_title("Timeline")
    if not session.is_timed:
        st.caption("The imported file does not tell when this session was played.")
        return
    spans = reads_cache.session_spans(run.id)
    origin_us = run_origin_us(run, spans)
    window = (session.started_at_us - 2 * SECOND_US, session.ended_at_us + 2 * SECOND_US)
    samples = reads_cache.metric_samples(run.id, list(REQUEST_GAUGES))
    lines = pd.concat(
        [in_flight(spans, origin_us=origin_us), request_series(samples, origin_us=origin_us)]
    )
    start_s, end_s = ((edge - origin_us) / SECOND_US for edge in window)
    events = reads_cache.log_events(run.id, from_us=window[0], to_us=window[1])
    figure = session_timeline(
        turn_bars(turns, origin_us=origin_us),
        lines[lines["seconds"].between(start_s, end_s)],
        divergence=end_mark(session, turns, origin_us=origin_us),
        event_at_s=[seconds_into(event.at_us, origin_us) for event in events],
        palette=palette_for(st.context.theme.type),
    )
    st.plotly_chart(
        figure,
        config={"displayModeBar": False},
        alt="The turns of this session and the requests in flight over time",
    )
    st.caption("Light bars wait for the first token, coloured bars stream.")


def show_events(session: SessionFacts, run: RunCounts) -> None:
    """Log events of the run while the session ran, a few seconds around it included."""
    panel_title("Log events around it")
    if not session.is_timed:
        st.caption("When it was played is not known, so no line of a log can be laid beside it.")
        return
    around_us = round(_AROUND_S * SECOND_US)
    events = reads_cache.log_events(
        run.id,
        from_us=session.started_at_us - around_us,
        to_us=session.ended_at_us + around_us,
        limit=100,
    )
    if not events:
        st.caption("The server logged nothing noteworthy within 5 s of this session.")
        return
    origin_us = run_origin_us(run, reads_cache.session_spans(run.id))
    rows = [
        {
            "time": offset_text(seconds_into(event.at_us, origin_us)),
            "service": event.service,
            "event": event.kind.replace("_", " "),
            "line": event.line,
        }
        for event in events
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, row_height=28, alt="Log events")


def show_twins(session: SessionFacts, twins: Sequence[TwinFacts], *, concurrency: int) -> None:
    """The same dialogue in the other arms: the pairing that the schedule promises."""
    others = [
        twin for twin in twins if twin.session_id != session.id and twin.concurrency == concurrency
    ]
    with st.container(border=True, gap="xsmall"):
        panel_title(f"Dialogue {plain(session.dialogue_key)} in other runs")
        if not others:
            st.caption("No other finished run at this concurrency has played it.")
        else:
            st.table(_twin_rows(session, others[:24]), border="horizontal", hide_index=True)


def _twin_rows(session: SessionFacts, twins: Sequence[TwinFacts]) -> pd.DataFrame:
    """One row an arm, its sessions by block; each link opens beside this page."""
    rows: dict[str, list[str]] = {}
    for twin in twins:
        address = address_of(SessionPlace(session=twin.session_id))
        both = address_of(comparison_of(IdKind.SESSION, twin.session_id, session.id))
        links = f"[{format_id(IdKind.SESSION, twin.session_id)}]({address}) ([compare]({both}))"
        rows.setdefault(twin.arm_name, []).append(f"{outcome_badge(twin.outcome)} {links}")
    return pd.DataFrame(
        [{"arm": plain(arm), "what became of it": " ".join(links)} for arm, links in rows.items()]
    )


def _show_pager(session: SessionFacts, place: SessionPlace, campaign_id: int) -> None:
    """Steps through the list that the address names; without one, through the session's run."""
    read = read_session_filter(place.q)
    wanted = read.filter if read.filter.terms else Filter((number_term("run", session.run_id),))
    order = reads_cache.session_order(wanted.text)
    here = ListedSession(session.id, session.run_id, session.session_index)
    steps = steps_among(order.places, here)
    with st.container(horizontal=True, vertical_alignment="center", width="content", gap="xsmall"):
        link_to(
            SessionsPlace(campaign=campaign_id, q=wanted.text),
            f":small[{_position(steps, is_all=order.is_all)}]",
            help=f"The list: {plain(wanted.text)}",
        )
        _pick_outcome(session, wanted)
        _step("Previous", "K", steps.previous_id, wanted, icon=":material/chevron_left:")
        _step("Next", "J", steps.next_id, wanted, icon=":material/chevron_right:")
    if read.fault is not None:
        st.caption(plain(f"{read.fault}. Steps go through the run."))


def _position(steps: Steps, *, is_all: bool) -> str:
    total = f"{steps.total:,}" + ("" if is_all else "+")
    return f"{steps.position:,} of {total}" if steps.position else f"beside the {total} of the list"


def _pick_outcome(session: SessionFacts, wanted: Filter) -> None:
    chip = picked_chip(wanted)
    picked = st.selectbox(
        "Sessions to step through",
        list(CHIPS),
        index=None if chip is None else CHIPS.index(chip),
        format_func=outcome_word,
        placeholder="as filtered",
        label_visibility="collapsed",
        width=130,
        key=f"filter {session.id} {wanted.text}",
    )
    if picked is not None and picked != chip:
        go_to(SessionPlace(session=session.id, q=with_chip(wanted, picked).text))


def _step(label: str, key: str, target: int | None, wanted: Filter, *, icon: str) -> None:
    if st.button(label, icon=icon, disabled=target is None, shortcut=key, key=f"step {label}"):
        go_to(SessionPlace(session=target, q=wanted.text))


def _about(session: SessionFacts) -> str:
    rounds = f"{session.rounds_completed} of {counted_noun(session.rounds_planned, 'round')}"
    parts = [
        f"dialogue {plain(session.dialogue_key)}",
        moment_text(session.started_at_us) if session.is_timed else "played at an unknown time",
        f"{rounds} completed",
    ]
    if session.host_cached_tokens:
        parts.append(f"{session.host_cached_tokens:,} tokens cached on the host")
    return " · ".join(parts)


def _plain_end(session: SessionFacts) -> str:
    ends = {
        Outcome.DONE: "The dialogue reached its right end.",
        Outcome.MAXROUNDS: "The round limit cut the dialogue, and nothing was wrong.",
        Outcome.ERROR: "The session gave no evidence.",
        Outcome.HARNESS_ERROR: "This was our own fault: it is in no denominator.",
    }
    return ends.get(Outcome(session.outcome), "What came was not what was due.")
