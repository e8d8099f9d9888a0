"""Parts of the log page: kinds of event with their counts, the filter, and the lines themselves."""

from dataclasses import replace

import pandas as pd
import streamlit as st

from app import reads_cache
from app.links import LogsPlace, RunPlace, address_of
from app.log_clock import window_us
from app.markdown_text import plain
from app.run_clock import run_origin_us, seconds_into
from app.session_filter import ReadFilter, read_log_filter
from app.widgets.filter_line import log_filter_line
from app.widgets.navigation import link_to, stay_at
from app.widgets.panel_title import panel_title
from app.wording import bytes_text, counted_noun, offset_text
from db.filters.terms import words_term
from db.reads.log_search import LogSearch, LogWindow
from db.reads.runs import RunCounts

_LONG_LINE = 2000


def show_kinds(run: RunCounts, place: LogsPlace) -> None:
    """Patterns rather than lines: a kind of event, how often, and how many requests it names."""
    with st.container(border=True, gap="xsmall"):
        panel_title("Kinds of event")
        kinds = reads_cache.log_event_counts(run.id)
        if kinds.empty:
            st.caption("No line of the server's log meant anything in this run.")
            return
        read = read_log_filter(place.q)
        shown = {word for term in read.filter.of("kind") for word in term.words}
        rows = []
        for kind, event_class, lines, requests in kinds.itertuples(index=False):
            only = read.filter.without("kind").also(words_term("kind", [str(kind)]))
            address = address_of(replace(place, q=only.text))
            name = plain(str(kind).replace("_", " "))
            rows.append(
                {
                    "kind": f"**{name}**" if kind in shown else f"[{name}]({address})",
                    "class": plain(str(event_class)),
                    "lines": f"{lines:,}",
                    "requests": f"{requests:,}",
                }
            )
        st.table(pd.DataFrame(rows), border="horizontal", hide_index=True)
        if shown:
            everything = replace(place, q=read.filter.without("kind").text)
            st.button("All kinds", on_click=stay_at, args=(everything,), type="tertiary")
        link_to(RunPlace(run=run.id), "The run itself", icon=":material/monitoring:")


def pick_window(place: LogsPlace) -> ReadFilter:
    """The filter and the seconds between which to look; what is chosen goes into the address."""
    read = log_filter_line(place, key=f"log {place.run}")
    key = f"{place.run} {place.start} {place.end}"

    def remember() -> None:
        start, end = (st.session_state[f"{name} {key}"] for name in ("start", "end"))
        stay_at(replace(place, start=start, end=end))

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
        if place.start is not None or place.end is not None:
            whole = replace(place, start=None, end=None)
            st.button("The whole run", icon=":material/close:", on_click=stay_at, args=(whole,))
    return read


def show_lines(run: RunCounts, place: LogsPlace, read: ReadFilter) -> None:
    """At most 200 lines, the newest of those that pass; what a server wrote is never Markdown."""
    origin_us = run_origin_us(run, reads_cache.session_spans(run.id))
    from_us, to_us = window_us(place.start, place.end, origin_us=origin_us)
    window = LogWindow(run.id, from_us, to_us, origin_us)
    search = reads_cache.log_search(window, read.filter.text)
    if not search.events:
        if search.is_out_of_time or not _is_whole(place):
            within = " in the time that a page may take" if search.is_out_of_time else ""
            st.caption(f"No log event was found that passes this filter{within}.")
        else:
            st.caption("There is no line to show.")
        return
    rows = [
        {
            "time": offset_text(seconds_into(event.at_us, origin_us)),
            "service": event.service,
            "kind": event.kind.replace("_", " "),
            "request": (event.request_ref or "") + (" (ours)" * event.is_own_cancellation),
            "line": event.line[:_LONG_LINE],
        }
        for event in search.events
    ]
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        row_height=28,
        height=min(620, 38 + 28 * len(rows)),
        column_config={"line": st.column_config.TextColumn(width=640)},
        alt="Log events",
    )
    st.caption(f"{_how_many(search)} Times from the first request.")
    longest = max(len(event.line) for event in search.events)
    if longest > _LONG_LINE:
        st.caption(f"Lines are cut here at {bytes_text(_LONG_LINE)}; the service log has them all.")


def _is_whole(place: LogsPlace) -> bool:
    return not place.q and place.start is None and place.end is None


def _how_many(search: LogSearch) -> str:
    number = counted_noun(len(search.events), "event")
    if search.is_out_of_time:
        return f"{number}: the newest; the time that a page may take ended before the older ones."
    return f"{number}: the newest that pass." if search.is_more else f"{number}: all that pass."
