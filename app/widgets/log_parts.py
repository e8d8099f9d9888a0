"""Parts of the log page: kinds of event with their counts, the filter, and the lines themselves."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from app import reads_cache
from app.links import LogsPlace, RunPlace, address_of
from app.log_clock import window_us
from app.markdown_text import plain
from app.run_clock import run_origin_us, seconds_into
from app.widgets.navigation import link_to, stay_at
from app.wording import bytes_text, counted_noun, offset_text
from db.reads.runs import RunCounts

_MOST_LINES = 200
_LONG_LINE = 2000


def show_kinds(run: RunCounts, place: LogsPlace) -> None:
    """Patterns rather than lines: a kind of event, how often, and how many requests it names."""
    with st.container(border=True, gap="xsmall"):
        st.markdown("##### Kinds of event")
        kinds = reads_cache.log_event_counts(run.id)
        if kinds.empty:
            st.caption("No line of the server's log meant anything in this run.")
            return
        rows = []
        for kind, event_class, lines, requests in kinds.itertuples(index=False):
            address = address_of(replace(place, kind=str(kind)))
            name = plain(str(kind).replace("_", " "))
            is_shown = place.kind == kind
            rows.append(
                {
                    "kind": f"**{name}**" if is_shown else f"[{name}]({address})",
                    "class": plain(str(event_class)),
                    "lines": f"{lines:,}",
                    "requests": f"{requests:,}",
                }
            )
        st.table(pd.DataFrame(rows), border="horizontal", hide_index=True)
        if place.kind is not None:
            everything = replace(place, kind=None)
            st.button("All kinds", on_click=stay_at, args=(everything,), type="tertiary")
        link_to(RunPlace(run=run.id), "The run itself", icon=":material/monitoring:")


def pick_window(place: LogsPlace) -> None:
    """Seconds and words to look for; what is chosen goes into the address."""
    key = f"{place.run} {place.start} {place.end} {place.text}"

    def remember() -> None:
        text = st.session_state[f"text {key}"].strip()
        stay_at(
            replace(
                place,
                start=st.session_state[f"start {key}"],
                end=st.session_state[f"end {key}"],
                text=text or None,
            )
        )

    with st.container(horizontal=True, gap="xsmall", vertical_alignment="bottom"):
        for label, name, value in (("From, s", "start", place.start), ("To, s", "end", place.end)):
            st.number_input(
                label,
                value=value,
                step=10.0,
                format="%.1f",
                key=f"{name} {key}",
                on_change=remember,
                width=130,
            )
        st.text_input(
            "Words in the line",
            value=place.text or "",
            max_chars=200,
            key=f"text {key}",
            on_change=remember,
            width=240,
        )
        if place.start is not None or place.end is not None or place.text or place.kind:
            cleared = LogsPlace(run=place.run)
            st.button("Clear", icon=":material/close:", on_click=stay_at, args=(cleared,))


def show_lines(run: RunCounts, place: LogsPlace) -> None:
    """At most 200 lines, the newest of those that pass; what a server wrote is never Markdown."""
    origin_us = run_origin_us(run, reads_cache.session_spans(run.id))
    from_us, to_us = window_us(place.start, place.end, origin_us=origin_us)
    events = reads_cache.log_events(
        run.id, from_us=from_us, to_us=to_us, kind=place.kind, text=place.text, limit=_MOST_LINES
    )
    if not events:
        st.caption("No log event passes this filter.")
        return
    rows = [
        {
            "time": offset_text(seconds_into(event.at_us, origin_us)),
            "service": event.service,
            "kind": event.kind.replace("_", " "),
            "request": (event.request_ref or "") + (" (ours)" * event.is_own_cancellation),
            "line": event.line[:_LONG_LINE],
        }
        for event in events
    ]
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        row_height=28,
        height=min(620, 38 + 28 * len(rows)),
        column_config={"line": st.column_config.TextColumn(width=640)},
        alt="Log events",
    )
    newest = "the newest that pass" if len(events) == _MOST_LINES else "all that pass"
    st.caption(f"{counted_noun(len(events), 'event')}: {newest}. Times from the first request.")
    longest = max(len(event.line) for event in events)
    if longest > _LONG_LINE:
        st.caption(f"Lines are cut here at {bytes_text(_LONG_LINE)}; the service log has them all.")
