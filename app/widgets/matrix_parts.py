"""Parts of the matrix page: the picture and its clicks, the same as a table, what is left out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from app.cell_reading import CellReading
from app.figures.heat_legend import heat_legend
from app.figures.heat_map import heat_map
from app.heat_cells import lay_out, table_rows
from app.links import MatrixPlace, Metric, RunPlace, address_of
from app.markdown_text import plain
from app.palette import palette_for
from app.records import Board
from app.widgets.navigation import link_to, stay_at
from app.wording import state_badge
from db.identifiers import IdKind, format_id
from db.reads.runs import RunCounts

_METRIC_WORDS = {
    Metric.CORRUPT: "Corrupt",
    Metric.SILENT: "Silent",
    Metric.WEDGES: "Wedge requests",
}
_LEGEND_WORDS = {
    Metric.CORRUPT: "% corrupt",
    Metric.SILENT: "% silent",
    Metric.WEDGES: "% of sessions",
}


def pick_metric(place: MatrixPlace) -> None:
    """The choice goes into the address, from which the page is drawn."""
    key = f"metric {place.metric}"

    def remember() -> None:
        stay_at(replace(place, metric=st.session_state[key] or place.metric))

    st.segmented_control(
        "Colour by",
        list(Metric),
        default=place.metric,
        format_func=_METRIC_WORDS.__getitem__,
        required=True,
        key=key,
        on_change=remember,
    )


def show_heat_map(readings: Sequence[CellReading], place: MatrixPlace) -> None:
    """A click on a cell goes into the address; the click that clears it changes nothing."""
    key = f"matrix {place.campaign} {place.metric}"

    def remember() -> None:
        clicked = clicked_arm(st.session_state[key])
        if clicked is not None:
            stay_at(replace(place, arm=clicked))

    palette = palette_for(st.context.theme.type)
    is_corrupt = place.metric is Metric.CORRUPT
    steps = palette.rate_steps if is_corrupt else palette.silent_steps
    laid = lay_out(readings, place.metric)
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
    st.plotly_chart(
        heat_legend(steps, words=_LEGEND_WORDS[place.metric], palette=palette),
        config={"displayModeBar": False, "staticPlot": True},
        key=f"legend {place.metric}",
        alt="Legend: six colours from none to 22 % and more; hatched where evidence is missing",
    )


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
        rows = table_rows(readings)
        for row, reading in zip(rows, readings, strict=True):
            address = address_of(MatrixPlace(campaign=place.campaign, arm=reading.arm.id))
            row["arm"] = f"[{plain(row['arm'])}]({address})"
            row["left out"] = plain(row["left out"])
            row["tag"] = plain(row["tag"])
        st.table(pd.DataFrame(rows), border="horizontal", hide_index=True)


def matrix_csv(readings: list[CellReading]) -> str:
    """The table as CSV; a cell that a spreadsheet would run as a formula gets a leading quote."""
    frame = pd.DataFrame(table_rows(readings))
    return frame.map(_neutral).to_csv(index=False)


def show_left_out(board: Board, left_out: list[RunCounts]) -> None:
    if not left_out:
        return
    with st.container(border=True, gap="xsmall"):
        st.markdown("##### Not counted")
        st.caption("Runs that did not end as done say nothing about a rate; they are run again.")
        for run in left_out:
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                link_to(RunPlace(run=run.id), format_id(IdKind.RUN, run.id))
                st.markdown(state_badge(run.run_state), width="content")
                why = run.reason or "no reason recorded"
                name = board.arm(run.arm_id).name
                words = f"{plain(name)} :gray[{plain(why)} · {run.n_ended} sessions kept]"
                st.markdown(words, width="content")


def _neutral(cell: str) -> str:
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@")) else cell
