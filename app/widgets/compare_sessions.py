"""Two sessions side by side: where they part, and their turns from a little before that on."""

from collections.abc import Sequence
from itertools import zip_longest

import streamlit as st

from app import reads_cache
from app.leak_marking import mark
from app.links import ComparedId, ComparePlace, SessionPlace, comparison_of
from app.markdown_text import plain
from app.records import Transcript
from app.turn_view import view_turn
from app.widgets.navigation import link_to, stay_at
from app.widgets.panel_title import panel_title
from app.wording import counted_noun, outcome_badge, seconds_text
from db.identifiers import IdKind, format_id
from db.reads.sessions import TurnFacts
from runner.difference.divergence import Divergence, first_divergence
from runner.difference.divergence_words import divergence_lines
from runner.evidence.wording import count_text

_CONTEXT_TURNS = 2
_SHOWN_CHARACTERS = 4_000


def show_two_sessions(a: ComparedId, b: ComparedId, place: ComparePlace) -> None:
    """Raises UnknownIdError."""
    sides = [reads_cache.transcript(side.row) for side in (a, b)]
    _show_names(sides, place)
    if len({side.session.dialogue_key for side in sides}) > 1:
        st.warning(
            "What was asked differs from the start on, so where they part says little.",
            title="Two different dialogues",
            icon=":material/warning:",
        )
    found = first_divergence(sides[0].turns, sides[1].turns)
    with st.container(border=True, gap="xsmall"):
        panel_title("Where they part")
        for line in divergence_lines(found):
            st.text(line)
    _show_turns(sides, found)


def _show_names(sides: Sequence[Transcript], place: ComparePlace) -> None:
    for letter, side, column in zip("AB", sides, st.columns(2, gap="small"), strict=True):
        session = side.session
        with column, st.container(border=True, gap="xxsmall"):
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                name = format_id(IdKind.SESSION, session.id)
                link_to(SessionPlace(session=session.id), f"**{letter}** {name}")
                st.markdown(outcome_badge(session.outcome), width="content")
            board = reads_cache.board(reads_cache.campaign_of_session(session.id))
            run = board.run(session.run_id)
            arm = board.arm(run.arm_id)
            st.caption(
                f"{plain(arm.name)} · {format_id(IdKind.RUN, run.id)} · block {run.block} · "
                f"dialogue {plain(session.dialogue_key)}"
            )
            if session.detail:
                st.text(session.detail)
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        runs = [side.session.run_id for side in sides]
        swapped = comparison_of(IdKind.SESSION, sides[1].session.id, sides[0].session.id)
        st.button("Swap", icon=":material/swap_horiz:", on_click=stay_at, args=(swapped,))
        if runs[0] != runs[1]:
            link_to(
                comparison_of(IdKind.RUN, *runs), "Their runs", icon=":material/compare_arrows:"
            )


def _show_turns(sides: Sequence[Transcript], found: Divergence | None) -> None:
    """Turns that agree are folded away, except those just before the place."""
    parts_at = found.turn_index if found else max((len(side.turns) for side in sides), default=0)
    first = max(0, parts_at - _CONTEXT_TURNS)
    pairs = list(zip_longest(*(side.turns for side in sides)))
    if first:
        with st.expander(f"{counted_noun(first, 'earlier turn')}, alike on both sides"):
            for a, b in pairs[:first]:
                _show_pair(a, b, parts=False)
    for number, (a, b) in enumerate(pairs[first:], start=first):
        _show_pair(a, b, parts=number >= parts_at)
    if not pairs:
        st.caption("No turn of either session was stored.")


def _show_pair(a: TurnFacts | None, b: TurnFacts | None, *, parts: bool) -> None:
    turn = a or b
    assert turn is not None
    number = turn.turn_index + 1
    word = ":orange[:material/call_split: apart]" if parts else ":gray[alike]"
    st.markdown(f"**Turn {number}** {word}")
    asked = [view_turn(each).asked if each else "" for each in (a, b)]
    if asked[0] == asked[1] and asked[0]:
        st.caption("Asked, on both sides")
        st.code(asked[0][:_SHOWN_CHARACTERS], language=None, wrap_lines=True)
    for side, column in zip((a, b), st.columns(2, gap="small"), strict=True):
        with column:
            _show_side(side, with_asked=asked[0] != asked[1])


def _show_side(turn: TurnFacts | None, *, with_asked: bool) -> None:
    if turn is None:
        st.caption("This session has no such turn.")
        return
    view = view_turn(turn)
    badge = outcome_badge(turn.outcome) if turn.outcome else ":blue-badge[:material/check: as due]"
    tokens = (
        "" if turn.completion_tokens is None else f" · {count_text(turn.completion_tokens)} tokens"
    )
    timing = f"TTFT {seconds_text(turn.first_token_s, places=2)}{tokens}"
    st.markdown(f"{badge} :small[:gray[{timing}]]")
    if with_asked:
        st.caption("Asked")
        st.code(view.asked[:_SHOWN_CHARACTERS] or "(nothing)", language=None, wrap_lines=True)
    if not view.came:
        st.caption("Came: nothing")
    for part in view.came:
        st.caption(f"Came in {plain(part.field)}")
        shown = mark(part.text[:_SHOWN_CHARACTERS], ()).text if part.text else "(empty)"
        st.code(shown, language=None, wrap_lines=True)
        if len(part.text) > _SHOWN_CHARACTERS:
            st.caption(f"{count_text(len(part.text) - _SHOWN_CHARACTERS)} characters more.")
