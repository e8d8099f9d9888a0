"""Parts of the overview of one campaign: status in chips, rates, where to look, the clock."""

from collections.abc import Sequence

import streamlit as st

from app import reads_cache
from app.arm_pictures import begun_runs, forest_rows
from app.cell_reading import CellReading
from app.figures.rate_forest import rate_forest
from app.figures.run_gantt import run_gantt
from app.links import RunPlace
from app.markdown_text import badge, plain
from app.next_looks import NextLook
from app.palette import HEADLINE_HUES, HEADLINE_ICONS, palette_for
from app.records import Board
from app.widgets.launch_desk import request_of_campaign
from app.widgets.navigation import go_to, link_to
from app.widgets.panel_title import panel_title
from app.wording import counted_noun, headline_so_far, until_decided_words
from db.reads.runs import RunCounts
from db.vocabulary import Headline, RunState

_SHOWN_RUNS = 120
NO_BAR = {"displayModeBar": False}


def status_chips(board: Board, *, is_final: bool) -> str:
    """Verdicts by headline, then what needs an eye; the zeros that matter are said too."""
    chips = [
        badge(
            f"{number} {headline_so_far(headline, is_final=is_final)}",
            colour=HEADLINE_HUES[headline],
            icon=icon,
        )
        for headline, icon in HEADLINE_ICONS.items()
        if (number := sum(verdict.headline == headline for verdict in board.verdicts))
        or (board.verdicts and headline in (Headline.CONFIRMED, Headline.REFUTED))
    ]
    unjudged = sum(verdict.headline is None for verdict in board.verdicts)
    if unjudged:
        chips.append(badge(f"{unjudged} not judged", colour="gray", icon=":material/more_horiz:"))
    done = [run for run in board.runs if run.run_state is RunState.DONE]
    chips.append(_wedged_chip(done))
    invalid = sum(run.run_state in (RunState.INVALID, RunState.FAILED) for run in board.runs)
    if invalid:
        words = f"{counted_noun(invalid, 'run')} invalid or failed"
        chips.append(badge(words, colour="gray", icon=":material/block:"))
    harness = sum(run.n_harness_error for run in done)
    chips.append(
        badge(counted_noun(harness, "harness error"), colour="gray", icon=":material/build:")
    )
    request = request_of_campaign(board.campaign.id)
    if request is not None and request.most_blocks is not None:
        words = until_decided_words(request.most_blocks)
        chips.append(badge(words, colour="gray", icon=":material/all_inclusive:"))
    return " ".join(chips)


def _wedged_chip(done: Sequence[RunCounts]) -> str:
    """A dash where all runs are imported and their files say nothing of wedges."""
    told = [run for run in done if run.wedges is not None or run.told_wedge_requests is not None]
    wedged = sum(bool(run.wedges or run.wedge_requests) for run in told)
    words = f"{counted_noun(wedged, 'run')} wedged" if told or not done else "– runs wedged"
    hue = "violet" if wedged else "gray"
    return badge(words, colour=hue, icon=":material/hourglass_disabled:")


def show_forest(cells: Sequence[CellReading]) -> None:
    with st.container(border=True, gap="xsmall"):
        panel_title("Corrupt sessions by arm")
        st.plotly_chart(
            rate_forest(forest_rows(cells), palette_for(st.context.theme.type)),
            config=NO_BAR,
            key="forest",
            alt="Corrupt rate of each arm with its interval; the matrix has the same as a table",
        )
        st.caption(
            "Dot: corrupt of all sessions. Line: 95 % Wilson interval, silent sessions counted as "
            "clean at its lower and as corrupt at its upper end. Hatched: where silence leaves the "
            "rate open. Sessions of a run are not independent; verdicts take the run as the unit."
        )


def show_next_looks(looks: Sequence[NextLook]) -> None:
    with st.container(border=True, gap="small"):
        panel_title("What to look at next")
        if not looks:
            st.caption("Nothing stands out: no corrupt session, no wedge, no run to be run again.")
        for look in looks:
            with st.container(gap="xxsmall"):
                link_to(look.place, f"**{plain(look.label)}**", icon=":material/arrow_forward:")
                st.caption(plain(look.why, limit=600))


def show_clock(board: Board, cells: Sequence[CellReading]) -> None:
    """A click on a bar leads to its run; the table of runs on the matrix leads there too."""
    theme = st.context.theme.type
    palette = palette_for(theme)
    bars = reads_cache.clock_bars(board, cells, theme=theme, at_most=_SHOWN_RUNS)
    with st.container(border=True, gap="xsmall"):
        panel_title("Runs on the clock")
        if not bars:
            st.caption("No run was begun yet.")
            return
        picked = st.plotly_chart(
            run_gantt(bars, [cell.arm.name for cell in cells], palette),
            config=NO_BAR,
            key="runs on the clock",
            on_select="rerun",
            selection_mode="points",
            alt="Each run on the clock, one lane an arm, coloured by its corrupt rate",
        )
        begun = len(begun_runs(cells))
        if begun > len(bars):
            st.caption(f"The last {len(bars)} of {counted_noun(begun, 'run')}.")
        seed = board.campaign.order_seed
        st.caption(
            "One lane an arm; inside a block the order is random, by order seed "
            f"{seed}. Thin line: start and verification. Bar: sessions driven, coloured as in the "
            "matrix, hatched where most of them were silent; the number counts corrupt ones. Time "
            "in UTC. A click opens the run."
        )
        run_id = clicked_run(picked)
        if run_id is not None:
            go_to(RunPlace(run=run_id))


def clicked_run(selection: object) -> int | None:
    """The run whose bar was clicked; None for no click."""
    chosen = selection["selection"] if isinstance(selection, dict) else {}
    for point in chosen.get("points", []):
        data = point.get("customdata")
        found = data[0] if isinstance(data, list | tuple) and data else data
        if isinstance(found, int):
            return found
    return None
