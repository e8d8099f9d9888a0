"""What two runs showed, side by side: counts with their intervals, curves, paired sessions."""

import pandas as pd
import streamlit as st

from app import reads_cache
from app.fairness import Side
from app.figures.rate_pairs import RatePoint, RateRow, rate_pairs
from app.figures.timeline import run_timeline
from app.links import LogsPlace, RunPlace, SessionPlace, address_of
from app.markdown_text import plain
from app.metric_series import REQUEST_GAUGES, in_flight, request_series
from app.palette import Palette, palette_for
from app.run_clock import run_origin_us, seconds_into
from app.widgets.compare_parts import Compared
from app.widgets.navigation import link_to
from app.widgets.run_clock_parts import end_marks, wedge_bands
from app.wording import corrupt_words, counted_noun, outcome_word, state_badge
from runner.difference.log_patterns import pattern_rows
from runner.difference.pairing import both_gave_evidence, crosstab, flips, with_classes
from runner.evidence.counts import SessionCounts
from runner.evidence.rates import Rate
from runner.evidence.wording import fraction_text, interval_text, percent_text

_SHOWN_FLIPS = 100


def show_counts(a: Side, b: Side) -> None:
    palette = palette_for(st.context.theme.type)
    with st.container(border=True, gap="xsmall", height="stretch"):
        st.markdown("##### Counts and rates")
        st.plotly_chart(
            rate_pairs(_rate_rows(a.counts, b.counts, palette), palette),
            config={"displayModeBar": False},
            alt="Corrupt, silent and clean sessions of A and B with their intervals",
        )
        st.caption(
            "95 % Wilson intervals; silent sessions widen the first row both ways. Sessions of one "
            "run are not independent, so no difference is claimed here: verdicts do that."
        )
        rows = [
            ("Wedge requests", *(f"{side.run.wedge_requests:,}" for side in (a, b))),
            ("Wedge lines", *(f"{side.run.wedge_lines:,}" for side in (a, b))),
            ("Harness errors", *(str(side.counts.harness_errors) for side in (a, b))),
            ("Peak running", *(_number(side.run.peak_running) for side in (a, b))),
            ("Wall time, s", *(_number(side.run.wall_s) for side in (a, b))),
        ]
        table = pd.DataFrame(rows, columns=["", "A", "B"])
        st.table(table, border="horizontal", hide_index=True)


def show_log_patterns(a: Compared, b: Compared) -> None:
    """Which kinds of log event one side has more of; both logs are one click away."""
    rows = pattern_rows(
        reads_cache.log_event_counts(a.run.id), reads_cache.log_event_counts(b.run.id)
    )
    with st.container(border=True, gap="xsmall"):
        st.markdown("##### Log events that differ")
        if not rows:
            st.caption("Every kind of event is as frequent in A as in B.")
        else:
            st.dataframe(pd.DataFrame(rows), hide_index=True, row_height=28, alt="Log events")
        with st.container(horizontal=True, gap="small"):
            for side in (a, b):
                place = LogsPlace(run=side.run.id)
                link_to(place, f"Log of {side.letter}", icon=":material/subject:")


def show_curves(a: Compared, b: Compared) -> None:
    with st.container(border=True, gap="xsmall"):
        st.markdown("##### Requests in flight, aligned at the first request")
        longest = max(side.run.wall_s or 0 for side in (a, b)) or None
        for side in (a, b):
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                link_to(RunPlace(run=side.run.id), f"**{side.letter}** {plain(side.name)}")
                st.markdown(state_badge(side.run.run_state), width="content")
            _show_curve(side, longest)


def show_pairs(a: Compared, b: Compared) -> None:
    pairs = reads_cache.paired_outcomes(a.run.id, b.run.id)
    with st.container(border=True, gap="xsmall"):
        st.markdown("##### Paired sessions: same dialogue in A and B")
        if pairs.empty:
            st.caption("The two runs have no dialogue in common.")
            return
        classed = with_classes(pairs, a.board.campaign.corrupt_outcomes)
        st.table(crosstab(classed), border="horizontal", hide_index=True)
        telling = both_gave_evidence(classed)
        changed = flips(telling)
        to_corrupt = int((changed["b_class"] == "corrupt").sum())
        st.markdown(
            f"{counted_noun(len(telling), 'pair')} gave evidence on both sides: "
            f"{to_corrupt} went clean → corrupt, {len(changed) - to_corrupt} corrupt → clean."
        )
        _show_flips(flips(classed))


def _rate_rows(a: SessionCounts, b: SessionCounts, palette: Palette) -> list[RateRow]:
    return [
        RateRow("Corrupt, silent both ways", _corrupt(a), _corrupt(b), palette.corrupt),
        RateRow("Silent", _share(a.silent, a.all), _share(b.silent, b.all), palette.silent),
        RateRow(
            "Gave evidence, not corrupt",
            _share(a.not_corrupt, a.all),
            _share(b.not_corrupt, b.all),
            palette.clean,
        ),
    ]


def _corrupt(counts: SessionCounts) -> RatePoint | None:
    bounds = counts.bounds
    if bounds is None:
        return None
    words = corrupt_words(counts)
    return RatePoint(bounds.low.value, bounds.wilson(), f"{words.fraction} · {words.rate}")


def _share(count: int, of: int) -> RatePoint | None:
    if not of:
        return None
    rate = Rate(count, of)
    interval = rate.wilson()
    words = f"{fraction_text(rate)} · {percent_text(rate)} {interval_text(interval)}"
    return RatePoint(rate.value, interval, words)


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:,.1f}"


def _show_curve(side: Compared, longest_s: float | None) -> None:
    run = side.run
    spans = reads_cache.session_spans(run.id)
    origin_us = run_origin_us(run, spans)
    samples = reads_cache.metric_samples(run.id, list(REQUEST_GAUGES))
    lines = pd.concat(
        [in_flight(spans, origin_us=origin_us), request_series(samples, origin_us=origin_us)]
    )
    if lines.empty:
        st.caption("Nothing was recorded over time.")
        return
    corrupt = spans[spans["outcome"].isin(side.board.campaign.corrupt_outcomes)]
    figure = run_timeline(
        lines,
        corrupt_at_s=[seconds_into(at, origin_us) for at in corrupt["ended_at_us"]],
        bands=wedge_bands(run, origin_us),
        marks=end_marks(run, origin_us),
        palette=palette_for(st.context.theme.type),
        height=220,
        until_s=longest_s,
    )
    st.plotly_chart(
        figure,
        config={"displayModeBar": False},
        key=f"curve {side.letter}",
        alt=f"Requests in flight in {side.letter}",
    )


def _show_flips(changed: pd.DataFrame) -> None:
    if changed.empty:
        st.caption("Every pair ended in the same class.")
        return
    shown = changed.head(_SHOWN_FLIPS)
    rows = pd.DataFrame(
        {
            "dialogue": shown["dialogue_key"],
            "A session": [address_of(SessionPlace(session=int(row))) for row in shown["a_id"]],
            "A": [outcome_word(word) for word in shown["a_outcome"]],
            "B session": [address_of(SessionPlace(session=int(row))) for row in shown["b_id"]],
            "B": [outcome_word(word) for word in shown["b_outcome"]],
        }
    )
    link = st.column_config.LinkColumn(display_text=r"session=(s-\d+)", help="Opens in a new tab")
    st.dataframe(
        rows,
        hide_index=True,
        row_height=28,
        column_config={"A session": link, "B session": link},
        alt="Dialogues whose class changed between A and B",
    )
    if len(changed) > len(shown):
        st.caption(f"The first {len(shown)} of {counted_noun(len(changed), 'changed pair')}.")
