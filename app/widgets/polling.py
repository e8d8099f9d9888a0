"""Keeping a page young: one flat fragment that looks now and then and redraws the page on a change.

The fragment holds no widget and draws nothing, so a click is never lost to a refresh. Where a page
shows numbers that move every second, `live` draws them in a fragment of their own.
"""

from collections.abc import Callable, Hashable

import streamlit as st

from app.errors import AppError

BUSY_S = 2.0
IDLE_S = 10.0


def redraw_on_change(token: Callable[[], Hashable], *, seen: Hashable, every_s: float) -> None:
    """Draw the page again as soon as `token` differs from `seen`.

    `seen`: `standing(token)` from before the page read anything, for what changes while it is drawn
    would otherwise be taken as drawn.
    """
    has_changed = watcher(token, seen)

    def look() -> None:
        if has_changed():
            st.rerun()

    st.fragment(look, run_every=every_s)()


def standing(token: Callable[[], Hashable]) -> Hashable:
    """A store that cannot be read is a state like any other: the page says so when redrawn."""
    try:
        return token()
    except AppError as error:
        return str(error)


def watcher(token: Callable[[], Hashable], seen: Hashable) -> Callable[[], bool]:
    """Whether it has changed since; not asked the first time, when the page is being drawn."""
    is_first = [True]

    def has_changed() -> bool:
        if is_first:
            is_first.clear()
            return False
        return standing(token) != seen

    return has_changed


def live(draw: Callable[[], None], *, every_s: float | None) -> None:
    """Draw now, and every `every_s` seconds again; None draws once."""

    def guarded() -> None:
        try:
            draw()
        except AppError:
            st.rerun()

    st.fragment(guarded, run_every=every_s)()
