"""The ledger of suspects as a table: standing, why, by which verdict, and on which runs."""

import pandas as pd
import streamlit as st

from app.cell_reading import CellReading
from app.links import ArmPlace, VerdictsPlace, address_of, comparison_of
from app.markdown_text import badge, plain
from app.records import Board
from app.suspects import Standing, Suspect, suspects
from app.widgets.panel_title import panel_title
from app.wording import corrupt_words
from db.identifiers import IdKind, format_id

_BADGES = {
    Standing.OPEN: badge("open", colour="gray", icon=":material/help:"),
    Standing.CONFIRMED: badge("confirmed", colour="orange", icon=":material/target:"),
    Standing.RULED_OUT: badge("ruled out", colour="blue", icon=":material/check:"),
}


def show_suspects(board: Board, cells: dict[int, CellReading]) -> None:
    with st.container(border=True, gap="xsmall"):
        panel_title("Suspects")
        rows = [_row(suspect, cells) for suspect in suspects(board.arms, board.verdicts)]
        if not rows:
            st.caption("The campaign varies nothing against a baseline, so there is no suspect.")
            return
        st.table(pd.DataFrame(rows), border="horizontal", hide_index=True)
        st.caption(
            "A suspect is a level of the baseline. Confirmed: a registered verdict found the fault "
            "gone in the arm that changes it alone. Ruled out: the fault was seen there all the "
            "same. One of several causes may be ruled out as needed and still do harm by itself."
        )


def _row(suspect: Suspect, cells: dict[int, CellReading]) -> dict[str, str]:
    return {
        "suspect": f"**{plain(suspect.name)}**",
        "standing": _BADGES[suspect.standing],
        "why": f"{plain(suspect.why)} {_verdict_link(suspect)}",
        "without it": _counts(suspect, cells),
    }


def _verdict_link(suspect: Suspect) -> str:
    if suspect.by is None:
        return ":gray[No verdict.]"
    verdict = suspect.by
    place = VerdictsPlace(campaign=verdict.campaign_id, hypothesis=verdict.hypothesis_id)
    name = format_id(IdKind.HYPOTHESIS, verdict.hypothesis_id)
    return f"[{name} {plain(verdict.slug)}]({address_of(place)})"


def _counts(suspect: Suspect, cells: dict[int, CellReading]) -> str:
    """Corrupt of all in the arm that changes it, with the way to its runs and to both arms."""
    if suspect.changed is None:
        return ":gray[no such arm]"
    cell = cells[suspect.changed.id]
    arm = f"[{format_id(IdKind.ARM, cell.arm.id)}]({address_of(ArmPlace(arm=cell.arm.id))})"
    if not cell.has_evidence:
        return f"{arm} :gray[no finished run]"
    words = corrupt_words(cell.counts)
    both = address_of(comparison_of(IdKind.ARM, suspect.baseline.id, cell.arm.id))
    return f"{arm} **{words.fraction}** {words.rate} [compare]({both})"
