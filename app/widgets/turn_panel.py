"""One turn of a transcript: what was asked, what was due, what came, and the bytes themselves.

Everything a model or a server wrote goes through `st.code` or `st.text`, never through Markdown.
"""

from collections.abc import Sequence

import streamlit as st

from app.leak_marking import mark
from app.markdown_text import plain
from app.turn_view import CamePart, cached_by_source, view_turn
from app.widgets.raw_download import raw_button
from app.wording import outcome_badge, reason_words, seconds_text
from db.reads.observations import RawFacts
from db.reads.sessions import TurnFacts
from db.vocabulary import RawKind
from runner.evidence.wording import count_text

_SHOWN_CHARACTERS = 12_000


def show_turn(turn: TurnFacts, raw: Sequence[RawFacts], *, is_open: bool) -> None:
    view = view_turn(turn)
    label = (
        f"**Turn {turn.turn_index + 1} · {plain(view.due_title)}** {_badge(turn)} {_timing(turn)}"
    )
    with st.expander(label, expanded=is_open):
        if turn.detail and not is_open:  # the open one is the page's own headline
            st.text(turn.detail)
        st.caption(view.asked_by)
        st.code(view.asked or "(nothing)", language=None, wrap_lines=True)
        if not view.came:
            st.caption("Came: nothing")
        for part in view.came:
            _show_part(part, finish_reason=turn.finish_reason)
        if view.due:
            st.caption("Due")
            st.code(view.due, language=None, wrap_lines=True)
        _show_wire(turn)
        _show_downloads(turn, raw)


def _badge(turn: TurnFacts) -> str:
    return outcome_badge(turn.outcome) if turn.outcome else ":blue-badge[:material/check: as due]"


def _timing(turn: TurnFacts) -> str:
    cached = cached_by_source(turn.cached_tokens)
    parts = [f"TTFT {seconds_text(turn.first_token_s, places=2)}"]
    if turn.completion_tokens is not None:
        parts.append(f"{count_text(turn.completion_tokens)} tokens")
    parts += [f"{count_text(tokens)} cached on {plain(src)}" for src, tokens in cached.items()]
    return f":gray[{' · '.join(parts)}]"


def _show_part(part: CamePart, *, finish_reason: str | None) -> None:
    ended = f" · finish\\_reason {plain(finish_reason)}" if finish_reason else ""
    st.caption(f"Came in {plain(part.field)}{ended}")
    if not part.spans:
        shown = part.text[:_SHOWN_CHARACTERS]
        words = mark(shown, ()).text if part.text else "(empty)"
        st.code(words, language=None, wrap_lines=True)
        _say_cut(0, len(part.text) - len(shown))
        return
    marked = mark(part.text, part.spans, limit=_SHOWN_CHARACTERS)
    st.code(marked.text, language="diff", wrap_lines=True)
    _say_cut(marked.cut_before, marked.cut_after)


def _say_cut(before: int, after: int) -> None:
    if before or after:
        st.caption(
            f"{count_text(before)} characters before and {count_text(after)} after are not shown; "
            "the download has them all."
        )


def _show_wire(turn: TurnFacts) -> None:
    parts = [f"HTTP {turn.http_status or 'none'}", f"ended by {turn.transport_end}"]
    if turn.duration_s:
        parts.append(f"took {seconds_text(turn.duration_s, places=2)}")
    if turn.prompt_tokens is not None:
        parts.append(f"{count_text(turn.prompt_tokens)} prompt tokens")
    if turn.reason:
        parts.append(reason_words(turn.reason))
    if turn.flags:
        parts.append("flags " + ", ".join(map(str, turn.flags)))
    parts.append(f"request {turn.request_id}")
    st.caption(plain(" · ".join(parts)))


def _show_downloads(turn: TurnFacts, raw: Sequence[RawFacts]) -> None:
    mine = [piece for piece in raw if piece.turn_id == turn.id]
    if not mine:
        st.caption("No raw bytes were kept of this turn.")
        return
    with st.container(horizontal=True, gap="small"):
        for piece in mine:
            is_request = piece.kind == RawKind.REQUEST
            label = "Request" if is_request else "Response bytes"
            ending = "json" if is_request else "bin"
            name = f"s-{turn.session_id}-turn-{turn.turn_index + 1}-{piece.kind}.{ending}"
            raw_button([piece], label, file_name=name)
