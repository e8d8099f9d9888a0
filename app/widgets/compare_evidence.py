"""What two arms or runs showed, side by side: rates, difference, curves, paired sessions."""

import pandas as pd
import streamlit as st

from app import reads_cache
from app.cell_reading import counts_of
from app.figures.rate_pairs import RatePoint, RateRow, rate_pairs
from app.figures.timeline import run_timeline
from app.links import LogsPlace, RunPlace, SessionPlace, address_of, comparison_of
from app.markdown_text import plain
from app.metric_series import REQUEST_GAUGES, in_flight, request_series
from app.palette import Palette, palette_for
from app.rate_difference import rate_difference
from app.run_blocks import runs_by_block
from app.run_clock import run_origin_us, seconds_into
from app.widgets.compare_parts import Compared
from app.widgets.navigation import link_to
from app.widgets.panel_title import panel_title
from app.widgets.run_clock_parts import end_marks, wedge_bands
from app.wording import corrupt_words, counted_noun, outcome_word, state_badge
from db.identifiers import IdKind, format_id
from db.reads.runs import RunCounts
from db.vocabulary import RunState
from runner.difference.log_patterns import pattern_rows
from runner.difference.pairing import both_gave_evidence, crosstab, flips, with_classes
from runner.evidence.counts import SessionCounts
from runner.evidence.rates import Rate
from runner.evidence.wording import at_most_text, fraction_text, interval_text, percent_text

_SHOWN_FLIPS = 100
_SHOWN_BLOCKS = 12


def show_counts(a: Compared, b: Compared) -> None:
    palette = palette_for(st.context.theme.type)
    with st.container(border=True, gap="xsmall", height="stretch"):
        panel_title("Counts and rates")
        st.plotly_chart(
            rate_pairs(_rate_rows(a.side.counts, b.side.counts, palette), palette),
            config={"displayModeBar": False},
            alt="Corrupt, silent and clean sessions of A and B with their intervals",
        )
        _show_difference(a, b)
        sides = (a.side, b.side)
        rows = [
            ("Runs", *(str(len(side.runs)) for side in sides)),
            ("Wedge requests", *(f"{side.wedge_requests:,}" for side in sides)),
            ("Wedge lines", *(f"{side.wedge_lines:,}" for side in sides)),
            ("Harness errors", *(str(side.counts.harness_errors) for side in sides)),
            ("Peak running", *(_number(side.peak_running, places=0) for side in sides)),
            ("Wall time, s", *(_number(side.wall_s) for side in sides)),
        ]
        table = pd.DataFrame(rows, columns=["", "A", "B"])
        st.table(table, border="horizontal", hide_index=True)


def show_log_patterns(a: Compared, b: Compared) -> None:
    """Which kinds of log event one side has more of; both logs are one click away."""
    counts = [_log_counts(side) for side in (a, b)]
    rows = pattern_rows(*counts)
    with st.container(border=True, gap="xsmall"):
        panel_title("Log events that differ")
        if all(events.empty for events in counts):
            st.caption("No line of the servers' logs meant anything, in A or in B.")
        elif not rows:
            st.caption("Every kind of event is as frequent in A as in B.")
        else:
            st.dataframe(pd.DataFrame(rows), hide_index=True, row_height=28, alt="Log events")
        with st.container(horizontal=True, gap="small"):
            for side in (a, b):
                for run in side.runs[:1]:
                    label = f"Log of {side.letter}, {format_id(IdKind.RUN, run.id)}"
                    link_to(LogsPlace(run=run.id), label, icon=":material/subject:")


def show_curves(a: Compared, b: Compared) -> None:
    with st.container(border=True, gap="xsmall"):
        panel_title("Requests in flight, aligned at the first request")
        longest = max(side.side.wall_s or 0 for side in (a, b)) or None
        for side in (a, b):
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                link_to(side.place, f"**{side.letter}** {plain(side.name)}")
                st.markdown(state_badge(side.runs[0].run_state), width="content")
            _show_curve(side, longest)


def show_pairs(a: Compared, b: Compared) -> None:
    pairs = _pairs(a, b)
    with st.container(border=True, gap="xsmall"):
        panel_title("Paired sessions: same dialogue in A and B")
        if pairs.empty:
            st.caption("The two have no dialogue in common.")
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


def show_block_by_block(a: Compared, b: Compared) -> None:
    """Each run with the run of the other arm in its block, which led through the same dialogues."""
    with st.container(border=True, gap="xsmall"):
        panel_title("Block by block")
        pairs = runs_by_block(a.runs, b.runs)
        if not pairs:
            st.caption("Neither has a finished run.")
            return
        rows = [_block_row(a, b, *pair) for pair in pairs[-_SHOWN_BLOCKS:]]
        st.table(pd.DataFrame(rows), border="horizontal", hide_index=True)
        if len(pairs) > _SHOWN_BLOCKS:
            st.caption(f"The last {_SHOWN_BLOCKS} of {counted_noun(len(pairs), 'block')}.")


def _block_row(
    a: Compared, b: Compared, first: RunCounts | None, second: RunCounts | None
) -> dict[str, str]:
    block = next(run.block for run in (first, second) if run is not None)
    both = ""
    if first is not None and second is not None:
        address = address_of(comparison_of(IdKind.RUN, first.id, second.id))
        both = f"[side by side]({address})"
    return {
        "block": str(block),
        "A": _run_cell(a, first),
        "B": _run_cell(b, second),
        "both": both,
    }


def _run_cell(side: Compared, run: RunCounts | None) -> str:
    if run is None:
        return ":gray[no finished run]"
    words = corrupt_words(counts_of(run, side.board.campaign.corrupt_outcomes))
    name = format_id(IdKind.RUN, run.id)
    return f"[{name}]({address_of(RunPlace(run=run.id))}) **{words.fraction}** {words.rate}"


def _pairs(a: Compared, b: Compared) -> pd.DataFrame:
    """The dialogues that both played, run by run within a block; of many blocks the last ones."""
    pairs = runs_by_block(a.runs, b.runs)
    if len(a.runs) == len(b.runs) == 1:
        pairs = [(a.runs[0], b.runs[0])]
    frames = [
        reads_cache.paired_outcomes(first, second)
        for first, second in pairs[-_SHOWN_BLOCKS:]
        if first is not None and second is not None
    ]
    frames = [frame for frame in frames if not frame.empty]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _log_counts(side: Compared) -> pd.DataFrame:
    """Of the last runs together."""
    return reads_cache.log_event_counts_of_runs(side.runs[-_SHOWN_BLOCKS:])


def _show_difference(a: Compared, b: Compared) -> None:
    """Of runs that count: a number that the banner forbids must not stand in bold below it."""
    unfinished = [
        side.letter for side in (a, b) if any(run.state != RunState.DONE for run in side.runs)
    ]
    if unfinished:
        st.markdown(f"No difference is given: {' and '.join(unfinished)} did not finish.")
        return
    a_counts, b_counts = (
        [counts_of(run, side.board.campaign.corrupt_outcomes) for run in side.runs]
        for side in (a, b)
    )
    difference = rate_difference(a_counts, b_counts)
    if difference is not None:
        st.markdown(f"Corrupt, B minus A: **{difference.words}**")
    st.caption(
        "95 % intervals: Wilson's in the picture; that of the difference allows for sessions of "
        "one run that resemble each other, and for the silent ones both ways. Whoever picks two "
        "sides has seen them: what follows is for verdicts to say."
    )


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
    seen = f"{percent_text(rate)} {interval_text(interval)}"
    share = seen if count else at_most_text(interval.high)
    return RatePoint(rate.value, interval, f"{fraction_text(rate)} · {share}")


def _number(value: float | None, *, places: int = 1) -> str:
    return "unknown" if value is None else f"{value:,.{places}f}"


def _show_curve(side: Compared, longest_s: float | None) -> None:
    run = side.runs[0]
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
            "both": [
                address_of(comparison_of(IdKind.SESSION, int(a_id), int(b_id)))
                for a_id, b_id in zip(shown["a_id"], shown["b_id"], strict=True)
            ],
        }
    )
    link = st.column_config.LinkColumn(display_text=r"session=(s-\d+)", help="Opens in a new tab")
    both = st.column_config.LinkColumn(
        display_text="compare", help="Where the two part; opens in a new tab"
    )
    st.dataframe(
        rows,
        hide_index=True,
        row_height=28,
        column_config={"A session": link, "B session": link, "both": both},
        alt="Dialogues whose class changed between A and B",
    )
    if len(changed) > len(shown):
        st.caption(f"The first {len(shown)} of {counted_noun(len(changed), 'changed pair')}.")
