"""Any one series that was scraped during a run, over its seconds."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from app import reads_cache
from app.figures.timeline import run_timeline
from app.links import RunPlace
from app.markdown_text import plain
from app.metric_series import named_series
from app.palette import palette_for
from app.run_clock import run_origin_us
from app.widgets.navigation import stay_at
from app.widgets.panel_title import panel_title
from db.reads.runs import RunCounts


def show_series(run: RunCounts, place: RunPlace) -> None:
    """One series at a time, for they are counted in different units; a snapshot, as the table."""
    with st.container(border=True, gap="xsmall"):
        panel_title("Metrics over time")
        names = reads_cache.metric_names(run.id)
        if not names:
            st.caption("No metric of this run was scraped.")
            return
        if place.series is not None and place.series not in names:
            st.caption(f"This run has no series {plain(place.series, limit=80)}.")
        chosen = _pick_series(names, place)
        samples = reads_cache.metric_samples(run.id, [chosen])
        origin_us = run_origin_us(run, reads_cache.session_spans(run.id))
        lines = named_series(samples, origin_us=origin_us)
        if lines.empty:
            st.caption("It stayed at zero throughout.")
            return
        st.plotly_chart(
            run_timeline(
                lines,
                corrupt_at_s=[],
                bands=[],
                marks=[],
                palette=palette_for(st.context.theme.type),
                height=220,
            ),
            config={"displayModeBar": False},
            key="series",
            alt=f"{chosen} over the seconds of this run",
        )


def _pick_series(names: Sequence[str], place: RunPlace) -> str:
    current = place.series if place.series is not None and place.series in names else names[0]
    key = f"series {place.run} {current}"

    def remember() -> None:
        if st.session_state[key] != current:  # see app.widgets.navigation.stay_at
            stay_at(replace(place, series=st.session_state[key]))

    st.selectbox(
        "Series",
        names,
        index=names.index(current),
        key=key,
        on_change=remember,
        label_visibility="collapsed",
    )
    return current
