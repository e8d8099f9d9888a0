"""Sessions as a table under their filter: of one run, of an arm's finished runs, of a campaign."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from app import reads_cache
from app.cell_reading import CellReading
from app.links import ArmPlace, RunPlace, SessionPlace, SessionsPlace, address_of
from app.markdown_text import plain
from app.run_clock import run_origin_us, seconds_into
from app.session_filter import CHIPS, ReadFilter, scoped
from app.widgets.filter_line import outcome_chips, session_filter_line
from app.widgets.navigation import stay_at
from app.widgets.panel_title import panel_title
from app.wording import counted_noun, offset_text, outcome_word, reason_words
from db.filters.terms import Term, number_term, words_term
from db.identifiers import IdKind, format_id
from db.reads.campaigns import ArmFacts
from db.reads.run_scopes import ArmWords, unknown_arms
from db.reads.runs import RunCounts
from db.reads.session_search import MOST_SESSIONS, FoundSession, SessionSearch
from db.reads.sessions import SessionFacts
from db.vocabulary import Outcome, OutcomeClass
from runner.evidence.wording import moment_text

Place = ArmPlace | RunPlace | SessionsPlace

_ARMS = 12
"""So many arms are told where a filter names none of them."""

_HUES = {OutcomeClass.CORRUPT: "orange", OutcomeClass.SILENT: "violet", OutcomeClass.CLEAN: "blue"}


def show_sessions(run: RunCounts, place: RunPlace) -> None:
    """A snapshot: links carry the id, so that a row never becomes another one under the mouse."""
    origin_us = run_origin_us(run, reads_cache.session_spans(run.id))
    scope = (number_term("run", run.id),)
    with st.container(border=True, gap="xsmall"):
        _show_list(place, run.campaign_id, scope, [run.id], key=f"r-{run.id}", origin_us=origin_us)


def show_sessions_of_arm(cell: CellReading, place: ArmPlace) -> None:
    """Of the finished runs, which are those that count; the newest run first."""
    arm = format_id(IdKind.ARM, cell.arm.id)
    scope = (words_term("arm", [arm]), words_term("state", ["done"]))
    with st.container(border=True, gap="xsmall"):
        _show_list(place, cell.arm.campaign_id, scope, [run.id for run in cell.done], key=arm)


def show_sessions_of_campaign(campaign_id: int, place: SessionsPlace) -> None:
    name = format_id(IdKind.CAMPAIGN, campaign_id)
    with st.container(border=True, gap="xsmall"):
        scope = (words_term("campaign", [name]),)
        _show_list(place, campaign_id, scope, None, key=name, title="All runs, the newest first")


def _show_list(
    place: Place,
    campaign_id: int,
    scope: Sequence[Term],
    run_ids: Sequence[int] | None,
    *,
    key: str,
    title: str = "Sessions",
    origin_us: int | None = None,
) -> None:
    _show_title(title)
    read = session_filter_line(place, key=key)
    _say_unknown_arms(read, reads_cache.board(campaign_id).arms)
    where = scoped(read.filter, *scope)
    look = partial(reads_cache.session_search, campaign_id, where, run_ids)
    search = look()
    outcome_chips(place, read, search.matched, is_complete=search.is_complete, key=key)
    search = _picked_page(search, look, key=f"pages {key} {where}")
    if not search.found:
        _say_no_sessions(place, read, search)
        return
    _show_rows(search.found, where, origin_us)
    if not search.is_complete:
        st.caption(
            f"{search.looked_at:,} of {search.of:,} sessions were looked at in the time that a "
            "page may take, those of the newest runs; a filter on arm or run narrows them."
        )


def _say_unknown_arms(read: ReadFilter, arms: Sequence[ArmFacts]) -> None:
    unknown = unknown_arms(read.filter, [ArmWords(arm.id, arm.name, arm.tag) for arm in arms])
    if not unknown:
        return
    there_are = "; ".join(f"{format_id(IdKind.ARM, arm.id)} {arm.name}" for arm in arms[:_ARMS])
    more = f"; and {len(arms) - _ARMS} more" if len(arms) > _ARMS else ""
    said = f"No arm of this campaign is named {' or '.join(unknown)}. There are: {there_are}{more}."
    st.markdown(f":orange[:material/error:] {plain(said, limit=2000)}")


def _picked_page(
    first: SessionSearch, look: Callable[..., SessionSearch], *, key: str
) -> SessionSearch:
    """The page of the list that was picked; where only a part was looked at, its first page."""
    pages = -(-first.passing // MOST_SESSIONS)
    if pages <= 1 or not first.is_complete:
        return first
    page = st.pagination(pages, key=key)
    if page == 1:
        return first
    return look(offset=(page - 1) * MOST_SESSIONS)


def _show_title(title: str) -> None:
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"
    ):
        panel_title(title, fits=True)
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            st.caption(f"as of {moment_text(reads_cache.now_us())}", width="content")
            st.button("Refresh", icon=":material/refresh:", type="tertiary")


def _say_no_sessions(place: Place, read: ReadFilter, search: SessionSearch) -> None:
    if not read.filter.terms:
        st.caption("No session has ended here yet.")
        return
    if not search.is_complete:
        st.caption(
            f"None of the {search.looked_at:,} sessions that were looked at passes this filter; "
            f"there are {search.of:,}. A filter on arm or run narrows them."
        )
    else:
        st.caption("No session passes this filter.")
    everything = replace(place, q="")
    st.button("Show all sessions", on_click=stay_at, args=(everything,), type="tertiary")


def _show_rows(found: Sequence[FoundSession], where: str, origin_us: int | None) -> None:
    frame = pd.DataFrame([_session_row(each.session, where, origin_us) for each in found])
    if origin_us is None:  # after the outcome, which a narrow screen must still show
        runs = [format_id(IdKind.RUN, each.run.run_id) for each in found]
        frame.insert(2, "run", runs)
        if len({each.run.arm.arm_id for each in found}) > 1:
            frame.insert(3, "arm", [each.run.arm.name for each in found])
    st.dataframe(
        frame,
        hide_index=True,
        row_height=28,
        height=min(560, 38 + 28 * len(found)),
        column_config={
            "session": st.column_config.LinkColumn(
                display_text=r"session=(s-\d+)", help="Opens in a new tab", width=70
            ),
            "what": st.column_config.TextColumn(width=300),
            "first token": st.column_config.NumberColumn(format="%.2f s"),
            "took": st.column_config.NumberColumn(format="%.1f s"),
            "outcome": st.column_config.MultiselectColumn(
                options=[outcome_word(word) for word in CHIPS],
                color=[_hue(word) for word in CHIPS],
                width=110,
            ),
        },
        alt=f"{counted_noun(len(found), 'session')}",
    )


def _hue(word: str) -> str:
    known = Outcome(word).outcome_class if word in list(Outcome) else None
    return _HUES.get(known, "gray") if known else "gray"


def _session_row(session: SessionFacts, where: str, origin_us: int | None) -> dict[str, Any]:
    said = session.detail or (reason_words(session.reason) if session.reason else "")
    turn = "" if session.decisive_turn is None else f"turn {session.decisive_turn + 1}: "
    if origin_us is None:
        started = moment_text(session.started_at_us) if session.is_timed else None
        when = {"started": started}
    else:
        ended = seconds_into(session.ended_at_us, origin_us)
        when = {"ended": offset_text(ended) if session.is_timed else None}
    return {
        "session": address_of(SessionPlace(session=session.id, q=where)),
        "outcome": [outcome_word(session.outcome)],
        "what": turn + said if said else "",
        "rounds": f"{session.rounds_completed}/{session.rounds_planned}",
        "first token": session.first_token_s,
        "took": session.took_s,
        "tokens": session.completion_tokens,
        "host cached": session.host_cached_tokens,
        **when,
        "dialogue": session.dialogue_key,
    }
