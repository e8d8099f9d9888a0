"""Parts of the page that lays two arms or runs side by side: choice, fairness, configuration."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from app import reads_cache
from app.cell_reading import pooled_counts
from app.fairness import Fairness, Side
from app.links import ArmPlace, ComparedId, ComparePlace, ConfigView, Place, RunPlace
from app.markdown_text import plain
from app.records import Board
from app.widgets.navigation import stay_at
from app.widgets.panel_title import panel_title
from db.identifiers import IdKind, format_id
from db.reads.campaigns import ArmFacts
from db.reads.runs import RunCounts
from db.vocabulary import RunState
from runner.difference.configuration import ConfigRow, ConfigSide, config_rows


@dataclass(frozen=True, slots=True)
class Compared:
    """A run, or an arm with its finished runs, and the campaign it belongs to."""

    letter: str
    id: ComparedId
    board: Board
    arm: ArmFacts
    runs: tuple[RunCounts, ...]

    @property
    def side(self) -> Side:
        counts = pooled_counts(self.runs, self.board.campaign.corrupt_outcomes)
        return Side(self.letter, self.runs, counts)

    @property
    def config(self) -> ConfigSide:
        """Of an arm, that of its first finished run."""
        if not self.runs:
            return ConfigSide(self.arm, None, ())
        record = reads_cache.run_record(self.runs[0])
        return ConfigSide(self.arm, record.launch, record.fingerprints)

    @property
    def name(self) -> str:
        if self.id.kind is IdKind.ARM:
            return f"{self.arm.name} · {len(self.runs)} finished"
        run = self.runs[0]
        return f"{format_id(IdKind.RUN, run.id)} · {self.arm.name} · block {run.block}"

    @property
    def place(self) -> Place:
        return (
            ArmPlace(arm=self.arm.id) if self.id.kind is IdKind.ARM else RunPlace(run=self.id.row)
        )


def compared(letter: str, side: ComparedId, board: Board) -> Compared:
    """Raises UnknownIdError."""
    if side.kind is IdKind.ARM:
        done = (run for run in board.runs if run.run_state is RunState.DONE)
        runs = tuple(run for run in done if run.arm_id == side.row)
        return Compared(letter, side, board, board.arm(side.row), runs)
    run = board.run(side.row)
    return Compared(letter, side, board, board.arm(run.arm_id), (run,))


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
    left, right, swap = st.columns([5, 5, 3], gap="small", vertical_alignment="bottom")
    with left:
        _pick(a, place)
    with right:
        _pick(b, place)
    with swap, st.container(horizontal=True, gap="xsmall"):
        swapped = replace(place, a=b.id, b=a.id)
        st.button("Swap", icon=":material/swap_horiz:", on_click=stay_at, args=(swapped,))
        if a.id.kind is IdKind.RUN and a.arm.id != b.arm.id:
            first, second = (ComparedId(IdKind.ARM, side.arm.id) for side in (a, b))
            arms = replace(place, a=first, b=second)
            st.button("All their runs", icon=":material/stacks:", on_click=stay_at, args=(arms,))


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
            panel_title("Configuration", fits=True)
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


def _pick(side: Compared, place: ComparePlace) -> None:
    names = _offered(side)
    key = f"{side.letter} {format_id(*side.id)}"

    def remember() -> None:
        picked = ComparedId(side.id.kind, st.session_state[key])
        is_first = side.letter == "A"
        stay_at(replace(place, a=picked) if is_first else replace(place, b=picked))

    st.selectbox(
        f"**{side.letter}**",
        list(names),
        index=list(names).index(side.id.row),
        format_func=lambda row_id: names[row_id],
        key=key,
        on_change=remember,
    )


def _offered(side: Compared) -> dict[int, str]:
    """What may stand on this side, by id: of the same kind and campaign."""
    if side.id.kind is IdKind.ARM:
        return {arm.id: arm.name for arm in side.board.arms}
    arms = {arm.id: arm for arm in side.board.arms}
    return {
        run.id: f"{format_id(IdKind.RUN, run.id)} · {arms[run.arm_id].name} · block {run.block}"
        for run in side.board.runs
        if run.n_ended or run.id == side.id.row
    }


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
