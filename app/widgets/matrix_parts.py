"""Parts of the matrix page: the picture and its clicks, the same as a table, what is left out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from app import reads_cache
from app.cell_reading import ENOUGH_SESSIONS, CellReading
from app.figures.heat_legend import heat_legend
from app.figures.heat_map import heat_map
from app.heat_cells import ENOUGH_FOR_P99, HeatCells, lay_out, table_rows, wait_labels
from app.links import MatrixPlace, Metric, RunPlace, address_of
from app.markdown_text import plain, selected
from app.matrix_axes import Axes, facets, factors_of, varies
from app.palette import RATE_LABELS, Palette, palette_for
from app.records import Board
from app.widgets.navigation import link_to, stay_at
from app.widgets.panel_title import panel_title
from app.wording import state_badge
from db.identifiers import IdKind, format_id
from db.reads.campaigns import ArmFacts
from db.reads.runs import RunCounts, newest_runs
from db.reads.sessions import Waited

_METRIC_WORDS = {
    Metric.CORRUPT: "Corrupt",
    Metric.SILENT: "Silent",
    Metric.WEDGES: "Wedge requests",
    Metric.TTFT: "TTFT p99",
}
_NO_FACET = "none"
_SHOWN_RUNS = 20
_WAITED_SESSIONS = 5000
_LEGEND_WORDS = {
    Metric.CORRUPT: "% corrupt",
    Metric.SILENT: "% silent",
    Metric.WEDGES: "% of sessions",
    Metric.TTFT: "s to first token",
}


def pick_metric(place: MatrixPlace) -> None:
    """The choice goes into the address, from which the page is drawn."""
    key = f"metric {place.metric}"

    def remember() -> None:
        stay_at(replace(place, metric=st.session_state[key] or place.metric))

    def label(metric: Metric) -> str:
        words = _METRIC_WORDS[metric]
        return selected(words) if metric is place.metric else words

    st.segmented_control(
        "Colour by",
        list(Metric),
        default=place.metric,
        format_func=label,
        required=True,
        key=key,
        on_change=remember,
    )


def pick_axes(arms: Sequence[ArmFacts], axes: Axes, place: MatrixPlace) -> None:
    """Which factor leads the rows, which lies in columns, which is drawn apart."""
    known = factors_of(arms)
    leading = next(iter(axes.rows), None)
    with st.container(horizontal=True, gap="small"):
        _pick_factor("Rows by", [f for f in known if f != axes.columns], leading, "rows", place)
        _pick_factor("Columns", known, axes.columns, "cols", place)
        others = [_NO_FACET, *(f for f in known if f != axes.columns and varies(arms, f))]
        _pick_factor("Facets", others, axes.facet or _NO_FACET, "facet", place)


def _pick_factor(
    label: str, options: Sequence[str], current: str | None, name: str, place: MatrixPlace
) -> None:
    key = f"{name} {current} {place.campaign}"

    def remember() -> None:
        picked = st.session_state[key]
        wanted: dict[str, Any] = {name: None if picked == _NO_FACET else picked}
        stay_at(replace(place, **wanted))

    st.selectbox(
        label,
        options,
        index=next((at for at, option in enumerate(options) if option == current), None),
        key=key,
        on_change=remember,
        width=170,
    )


def show_heat_maps(readings: Sequence[CellReading], axes: Axes, place: MatrixPlace) -> None:
    """One matrix a facet, then the legend for all; the same colours mean the same in each."""
    palette = palette_for(st.context.theme.type)
    is_silent = place.metric in (Metric.SILENT, Metric.WEDGES, Metric.TTFT)
    steps = palette.silent_steps if is_silent else palette.rate_steps
    waits = _waits(readings) if place.metric is Metric.TTFT else {}
    longest_s = max((each.seconds for each in waits.values()), default=1.0)
    for number, (title, cells) in enumerate(facets(readings, axes)):
        if title:
            st.markdown(f"**{plain(title)}**")
        laid = lay_out(cells, place.metric, axes=axes, waits=waits, longest_s=longest_s)
        _show_heat_map(laid, place, palette, steps, number=number)
    is_wait = place.metric is Metric.TTFT
    st.plotly_chart(
        heat_legend(
            steps,
            words=_LEGEND_WORDS[place.metric],
            palette=palette,
            labels=wait_labels(longest_s) if is_wait else RATE_LABELS,
            few=ENOUGH_FOR_P99 if is_wait else ENOUGH_SESSIONS,
        ),
        config={"displayModeBar": False, "staticPlot": True},
        key=f"legend {place.metric}",
        alt="Legend: six colours from none to very much; hatched where evidence is missing",
    )
    if is_wait and any(len(_waited_in(each)) < len(each.done) for each in readings):
        st.caption(f"Waits are those of the last {_WAITED_SESSIONS:,} sessions of an arm.")


def _show_heat_map(
    laid: HeatCells, place: MatrixPlace, palette: Palette, steps: Sequence[str], *, number: int
) -> None:
    """A click on a cell goes into the address; the click that clears it changes nothing."""
    key = f"matrix {place.campaign} {place.metric} {number}"

    def remember() -> None:
        clicked = clicked_arm(st.session_state[key])
        if clicked is not None:
            stay_at(replace(place, arm=clicked))

    st.plotly_chart(
        heat_map(
            laid.cells,
            rows=laid.rows,
            columns=laid.columns,
            corner=laid.corner,
            palette=palette,
            steps=steps,
            selected_arm=place.arm,
        ),
        key=key,
        on_select=remember,
        selection_mode="points",
        config={"displayModeBar": False},
        alt="Sessions by arm and concurrency; the table below says the same",
    )


def _waits(readings: Sequence[CellReading]) -> dict[int, Waited]:
    """Arm id -> the wait that 99 % of its sessions did not exceed; read when it is asked for."""
    found = {
        reading.arm.id: reads_cache.first_token_quantile(_waited_in(reading), share=0.99)
        for reading in readings
        if reading.done
    }
    return {arm_id: waited for arm_id, waited in found.items() if waited is not None}


def _waited_in(reading: CellReading) -> list[RunCounts]:
    return newest_runs(reading.done, at_most_sessions=_WAITED_SESSIONS)


def clicked_arm(selection: Any) -> int | None:
    """The arm whose cell was clicked; None for no click, and for the click that cleared it."""
    for point in selection["selection"]["points"]:
        data = point.get("customdata")
        found = data[0] if isinstance(data, list | tuple) and data else data
        if isinstance(found, int):
            return found
    return None


def show_table(readings: list[CellReading], place: MatrixPlace) -> None:
    with st.expander("The same matrix as a table, for keyboard and screen readers"):
        _pick_cell(readings, place)
        rows = table_rows(readings)
        for row, reading in zip(rows, readings, strict=True):
            address = address_of(replace(place, arm=reading.arm.id))
            row["arm"] = f"[{plain(row['arm'])}]({address})"
            row["left out"] = plain(row["left out"])
            row["tag"] = plain(row["tag"])
        st.table(pd.DataFrame(rows), border="horizontal", hide_index=True)
        st.caption("The links in the table open in a new tab.")


def _pick_cell(readings: list[CellReading], place: MatrixPlace) -> None:
    """What a click on the picture does, by the keyboard."""
    names = {reading.arm.id: reading.arm.name for reading in readings}
    key = f"cell {place.arm} {place.campaign}"

    def remember() -> None:
        stay_at(replace(place, arm=st.session_state[key]))

    st.selectbox(
        "Open a cell",
        list(names),
        index=list(names).index(place.arm) if place.arm in names else None,
        format_func=lambda arm_id: names[arm_id],
        key=key,
        on_change=remember,
        placeholder="Arm and concurrency",
        width=420,
    )


def matrix_csv(readings: list[CellReading]) -> str:
    """The table as CSV; a cell that a spreadsheet would run as a formula gets a leading quote."""
    frame = pd.DataFrame(table_rows(readings))
    return frame.map(_neutral).to_csv(index=False)


def show_left_out(board: Board, left_out: list[RunCounts]) -> None:
    if not left_out:
        return
    with st.container(border=True, gap="xsmall"):
        panel_title("Not counted")
        st.caption("Runs that did not end as done say nothing about a rate; they are run again.")
        if len(left_out) > _SHOWN_RUNS:
            st.caption(f"The last {_SHOWN_RUNS} of {len(left_out)} runs.")
        for run in left_out[-_SHOWN_RUNS:]:
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                link_to(RunPlace(run=run.id), format_id(IdKind.RUN, run.id))
                st.markdown(state_badge(run.run_state), width="content")
                why = run.reason or "no reason recorded"
                name = board.arm(run.arm_id).name
                words = f"{plain(name)} :gray[{plain(why)} · {run.n_ended} sessions kept]"
                st.markdown(words, width="content")


def _neutral(cell: str) -> str:
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell
