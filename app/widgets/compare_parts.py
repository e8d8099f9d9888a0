"""Parts of the page that lays two runs side by side: choice, fairness, counts, pairs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from app import reads_cache
from app.cell_reading import counts_of
from app.fairness import Fairness, Side
from app.links import ComparePlace, ConfigView
from app.markdown_text import plain
from app.records import Board
from app.widgets.navigation import stay_at
from db.identifiers import IdKind, format_id
from db.reads.runs import RunCounts
from db.vocabulary import RunState
from runner.difference.configuration import ConfigRow, ConfigSide, config_rows

_SHOWN_FLIPS = 100


@dataclass(frozen=True, slots=True)
class Compared:
    """One run with the campaign it belongs to."""

    letter: str
    board: Board
    run: RunCounts

    @property
    def side(self) -> Side:
        counts = counts_of(self.run, self.board.campaign.corrupt_outcomes)
        return Side(self.letter, self.run, counts)

    @property
    def config(self) -> ConfigSide:
        record = reads_cache.run_record(self.run)
        arm = self.board.arm(self.run.arm_id)
        return ConfigSide(arm, record.launch, record.fingerprints)

    @property
    def name(self) -> str:
        arm = self.board.arm(self.run.arm_id)
        return f"{format_id(IdKind.RUN, self.run.id)} · {arm.name} · block {self.run.block}"


def default_pair(board: Board) -> tuple[RunCounts, RunCounts] | None:
    """The baseline and the arm of the first hypothesis; else the two newest runs of two arms."""
    ended = [run for run in board.runs if run.run_state is RunState.DONE]
    ended = ended or [run for run in board.runs if run.n_ended]
    baseline = {arm.id for arm in board.arms if arm.is_baseline}
    asked = [verdict.arm_id for verdict in board.verdicts]
    firsts = [run for run in ended if run.arm_id in baseline] or ended
    if not firsts:
        return None
    a = firsts[0]
    others = [run for run in ended if run.arm_id != a.arm_id] or [
        run for run in ended if run.id != a.id
    ]
    rank = {arm_id: place for place, arm_id in reversed(list(enumerate(asked)))}
    others.sort(key=lambda run: (rank.get(run.arm_id, len(asked)), run.block != a.block, -run.id))
    return (a, others[0]) if others else None


def pick_sides(a: Compared, b: Compared, place: ComparePlace) -> None:
    left, right, swap = st.columns([5, 5, 2], gap="small", vertical_alignment="bottom")
    with left:
        _pick("A", a, place)
    with right:
        _pick("B", b, place)
    with swap:
        swapped = replace(place, a=b.run.id, b=a.run.id)
        st.button("Swap", icon=":material/swap_horiz:", on_click=stay_at, args=(swapped,))


def show_fairness(fairness: Fairness) -> None:
    declared = ", ".join(fairness.declared) or "no declared factor"
    notes = "; ".join(fairness.notes)
    told = f"Differs by {declared}." + (f" Mind: {notes}." if notes else "")
    if fairness.problems:
        st.warning(
            plain(told, limit=2000),
            title=plain(f"Corruption rates cannot be compared: {'; '.join(fairness.problems)}"),
            icon=":material/warning:",
        )
    else:
        st.markdown(f":blue[:material/check:] Comparable. {plain(told, limit=2000)}")


def show_configuration(rows: Sequence[ConfigRow], place: ComparePlace) -> None:
    differing = [row for row in rows if row.differs]
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, horizontal_alignment="distribute"):
            st.markdown("##### Configuration", width="content")
            _pick_config_view(place)
        shown = differing if place.config is ConfigView.DIFFERENCES else list(rows)
        if not shown:
            st.caption("Nothing that is known of the two differs.")
        else:
            st.table(_config_table(shown[:200]), border="horizontal", hide_index=True)
        equal = len(rows) - len(differing)
        st.caption(f"{len(differing)} differ, {equal} equal.")


def differences(a: Compared, b: Compared) -> list[ConfigRow]:
    return config_rows(a.config, b.config)


def _pick(letter: str, compared: Compared, place: ComparePlace) -> None:
    runs = [run for run in compared.board.runs if run.n_ended or run.id == compared.run.id]
    names = {run.id: Compared(letter, compared.board, run).name for run in runs}
    key = f"{letter} {compared.run.id}"

    def remember() -> None:
        picked = st.session_state[key]
        chosen = {"a": picked} if letter == "A" else {"b": picked}
        stay_at(replace(place, **chosen))

    st.selectbox(
        f"**{letter}**",
        list(names),
        index=list(names).index(compared.run.id),
        format_func=lambda run_id: names[run_id],
        key=key,
        on_change=remember,
    )


def _pick_config_view(place: ComparePlace) -> None:
    key = f"config view {place.config}"

    def remember() -> None:
        view = ConfigView.DIFFERENCES if st.session_state[key] else ConfigView.ALL
        stay_at(replace(place, config=view))

    is_on = place.config is ConfigView.DIFFERENCES
    st.toggle("Differences only", value=is_on, key=key, on_change=remember)


def _config_table(rows: Sequence[ConfigRow]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "setting": f"{plain(row.short_name)} :gray-badge[{row.kind}]",
                "A": plain(row.a, limit=60),
                "B": plain(row.b, limit=60),
            }
            for row in rows
        ]
    )
