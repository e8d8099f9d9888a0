"""The one clock of a run: requests, wedges, who was caught, and what was logged."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from app import reads_cache
from app.figures.clock_strip import clock_strip
from app.figures.timeline import Band, Mark
from app.links import LogsPlace, SessionPlace, address_of
from app.log_clock import bin_seconds, density_in_seconds
from app.markdown_text import badge, plain
from app.metric_series import REQUEST_GAUGES, in_flight, request_series
from app.palette import palette_for
from app.records import Board
from app.run_clock import elapsed_s, open_sessions, run_origin_us, seconds_into
from app.widgets.navigation import link_to
from app.widgets.panel_title import panel_title
from app.widgets.raw_download import bytes_button
from app.wording import counted_noun, offset_text
from db.reads.runs import RunCounts
from db.reads.wedges import RunStillness, WedgeSpan
from runner.evidence.wording import duration_text

_SHOWN_VICTIMS = 40
_END_WORDS = {"recovered": "it went on by itself", "released": "the requests were let go"}


def show_clock_strip(board: Board, run: RunCounts, *, key: str = "run curve") -> None:
    spans = reads_cache.session_spans(run.id)
    origin_us = run_origin_us(run, spans)
    concurrency = board.arm(run.arm_id).concurrency
    still_open = open_sessions(run, concurrency)
    samples = reads_cache.metric_samples(run.id, list(REQUEST_GAUGES))
    now_s = seconds_into(reads_cache.now_us(), origin_us) if still_open else None
    lines = pd.concat(
        [
            in_flight(
                spans,
                origin_us=origin_us,
                open_sessions=still_open,
                concurrency=concurrency,
                until_s=now_s,
            ),
            request_series(samples, origin_us=origin_us),
        ]
    )
    if lines.empty:
        st.caption("No session has ended and no metric was scraped yet.")
        return
    bin_s = bin_seconds(elapsed_s(run, now_us=reads_cache.now_us()) or 60.0)
    density = reads_cache.log_density(run.id, bin_us=bin_s * 1_000_000)
    stillness = reads_cache.run_record(run).stillness
    caught = {victim.session_id for span in stillness.spans for victim in span.victims}
    corrupt = spans[spans["outcome"].isin(board.campaign.corrupt_outcomes)]
    st.plotly_chart(
        clock_strip(
            lines,
            density=density_in_seconds(density, origin_us=origin_us),
            bin_s=bin_s,
            victims_at_s=_seconds(spans[spans["id"].isin(caught)]["ended_at_us"], origin_us),
            corrupt_at_s=_seconds(corrupt["ended_at_us"], origin_us),
            bands=wedge_bands(run, origin_us),
            marks=end_marks(run, origin_us),
            palette=palette_for(st.context.theme.type),
        ),
        config={"displayModeBar": False},
        key=key,
        alt="Requests in flight and on the server, wedges and log lines over the run's seconds",
    )


def wedge_bands(run: RunCounts, origin_us: int) -> list[Band]:
    until_us = run.ended_at_us or reads_cache.now_us()
    bands = []
    for span in reads_cache.run_record(run).stillness.spans:
        start_s = seconds_into(span.started_at_us, origin_us)
        end_s = seconds_into(span.ended_at_us or until_us, origin_us)
        bands.append(Band(start_s, end_s, f"wedge, {duration_text(end_s - start_s)}"))
    return bands


def end_marks(run: RunCounts, origin_us: int) -> list[Mark]:
    if run.ended_at_us is None:
        return []
    return [Mark(seconds_into(run.ended_at_us, origin_us), run.state)]


def show_stillness(run: RunCounts) -> None:
    """Every wedge with who was caught and what was kept of the moment; pauses that healed, too."""
    stillness = reads_cache.run_record(run).stillness
    if not stillness.spans and not stillness.cohorts and not stillness.canaries:
        return
    origin_us = run_origin_us(run, reads_cache.session_spans(run.id))
    with st.container(border=True, gap="xsmall"):
        panel_title("What stood still")
        for span in stillness.spans:
            _show_span(run, span, origin_us)
        _show_rest(stillness, origin_us)


def _show_span(run: RunCounts, span: WedgeSpan, origin_us: int) -> None:
    start_s = seconds_into(span.started_at_us, origin_us)
    lasted = "to the end of the watch" if span.seconds is None else duration_text(span.seconds)
    wedge = badge("wedge", colour="violet", icon=":material/hourglass_disabled:")
    where = plain(", ".join(span.where))
    st.markdown(f"{wedge} **{offset_text(start_s)}, {lasted}** on {where}")
    told = [
        f"{counted_noun(span.open_requests, 'request')} in flight",
        f"{counted_noun(len(span.victims), 'victim')}",
        f"{counted_noun(span.log_lines, 'log line')} about "
        f"{counted_noun(span.log_requests, 'request')}",
    ]
    if span.confirmed_by:
        told.append(f"confirmed by {span.confirmed_by}")
    if span.rule:
        told.append(f"rule {span.rule}")
    if span.end:
        told.append(_END_WORDS.get(span.end, span.end.replace("_", " ")))
    st.caption(plain(" · ".join(told), limit=600))
    end_s = None if span.seconds is None else round(start_s + span.seconds, 1)
    place = LogsPlace(run=run.id, start=round(start_s, 1), end=end_s)
    link_to(place, "Log of these seconds", icon=":material/subject:")
    if span.victims:
        with st.expander(f"{counted_noun(len(span.victims), 'victim')} of this wedge"):
            st.markdown(" ".join(_victim_words(span)))
            if len(span.victims) > _SHOWN_VICTIMS:
                st.caption(f"The first {_SHOWN_VICTIMS} of {len(span.victims)}.")
    if span.box:
        with st.expander("Black box of that moment"):
            _show_box(span)


def _victim_words(span: WedgeSpan) -> list[str]:
    words = []
    for victim in span.victims[:_SHOWN_VICTIMS]:
        silence = duration_text(victim.silence_s)
        if victim.session_id is None:
            words.append(f"{plain(victim.request_id, limit=20)} :gray[{silence}]")
        else:
            address = address_of(SessionPlace(session=victim.session_id))
            words.append(f"[s-{victim.session_id}]({address}) :gray[{silence}]")
    return words


def _show_box(span: WedgeSpan) -> None:
    for item in span.box:
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            name = f"{item.kind.removeprefix('wedge_').replace('_', ' ')} of {item.service}"
            if item.raw_id is None:
                st.caption(plain(f"{name}: not kept, {item.said}"), width="content")
            else:
                bytes_button(
                    item.raw_id,
                    plain(name),
                    size_bytes=item.size_bytes,
                    is_capped=item.is_capped,
                    file_name=f"{item.kind}-{item.service}.txt",
                )


def _show_rest(stillness: RunStillness, origin_us: int) -> None:
    for cohort in stillness.cohorts[:5]:
        at = ""
        if cohort.released_at_us >= origin_us:
            at = f" at {offset_text(seconds_into(cohort.released_at_us, origin_us))}"
        st.markdown(
            f":gray[:material/pause_circle:] {counted_noun(len(cohort.request_ids), 'request')} "
            f"went on together{at}, after up to {duration_text(cohort.longest_s)} of silence "
            f":gray[within {cohort.spread_ms:.0f} ms]"
        )
    if stillness.canaries:
        lost = sum(not canary.answered for canary in stillness.canaries)
        sent = counted_noun(len(stillness.canaries), "canary request")
        st.caption(f"{sent} sent, {lost} without an answer")
    if stillness.longest_pause_s is not None:
        pause = duration_text(stillness.longest_pause_s)
        st.caption(f"Pauses up to {pause} were taken for legitimate.")


def _seconds(at_us: Sequence[int] | pd.Series, origin_us: int) -> list[float]:
    return [seconds_into(int(at), origin_us) for at in at_us]
