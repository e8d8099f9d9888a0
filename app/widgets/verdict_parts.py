"""How a stored verdict is shown: its headline, its three answers, why, and what to do next."""

import streamlit as st

from app.campaign_progress import Progress
from app.links import VerdictsPlace
from app.markdown_text import badge, plain
from app.records import Board
from app.stored_verdict import StoredVerdict, read_verdict
from app.widgets.navigation import link_to
from app.widgets.panel_title import panel_title
from app.wording import counted_noun, headline_badge, headline_so_far
from db.identifiers import IdKind, format_id
from db.reads.campaigns import VerdictFacts
from db.vocabulary import Headline

_LONG = 2000
EXPLORATORY = badge("exploratory", colour="gray", icon=":material/explore:")


def show_verdict_list(board: Board, progress: Progress) -> None:
    """Each claim with its newest verdict, short; the link leads to all that was said."""
    with st.container(border=True, gap="xsmall"):
        panel_title("Verdicts")
        if any(facts.headline for facts in board.verdicts):
            say_not_final(progress)
        if not board.verdicts:
            st.caption("This campaign claims nothing, so there is nothing to judge.")
        for facts in board.verdicts:
            show_verdict_line(facts, is_final=progress.is_final)


def say_not_final(progress: Progress) -> None:
    """Where runs are outstanding: a verdict may look firm and yet change with the next of them."""
    if not progress.is_final:
        done = f"{progress.runs_done} of {counted_noun(progress.runs_total, 'run')}"
        st.markdown(f":orange[:material/pending: Not final: {done} done; the rest may change it.]")


def show_verdict_line(facts: VerdictFacts, *, is_final: bool) -> None:
    """Claim, headline, three answers, and the sentence under the headline."""
    verdict = read_verdict(facts)
    place = VerdictsPlace(campaign=facts.campaign_id, hypothesis=facts.hypothesis_id)
    with st.container(gap="xxsmall"):
        with st.container(
            horizontal=True,
            horizontal_alignment="distribute",
            vertical_alignment="center",
            gap="xsmall",
        ):
            link_to(place, f"**{plain(facts.slug)}**")
            if verdict is not None:
                label = EXPLORATORY + " " if verdict.is_exploratory else ""
                said = headline_badge(verdict.headline, is_final=is_final)
                st.markdown(label + said, width="content")
        st.markdown(plain(facts.claim))
        if verdict is None:
            st.caption(f"Predicted: {plain(facts.predict)}. Not judged yet.")
            return
        st.markdown(f":small[{_answers_text(verdict)}]")
        st.caption(plain(verdict.sentence, limit=_LONG))


def show_headline(verdict: StoredVerdict, progress: Progress) -> None:
    """The headline in its colour with the one sentence that it licenses."""
    title = headline_so_far(verdict.headline, is_final=progress.is_final).capitalize()
    title = f"Exploratory: {title.lower()}" if verdict.is_exploratory else title
    said = plain(verdict.sentence, limit=_LONG)
    if verdict.headline in (Headline.REFUTED, Headline.WORSE):
        st.error(said, title=title, icon=":material/close:")
    elif verdict.headline == Headline.CONFIRMED:
        st.success(said, title=title, icon=":material/check:")
    elif verdict.headline == Headline.IMPROVED_NOT_ELIMINATED:
        st.warning(said, title=title, icon=":material/trending_down:")
    else:
        with st.container(border=True, gap="xxsmall"):
            st.markdown(f":material/help: **{title}**")
            st.markdown(said)
    say_not_final(progress)


def show_answers(verdict: StoredVerdict) -> None:
    """The three answers side by side; below one another on a narrow screen."""
    for column, answer in zip(st.columns(3, gap="small"), verdict.answers, strict=True):
        with column, st.container(border=True, gap="xxsmall", height="stretch"):
            st.caption(answer.question)
            st.markdown(badge(answer.word, colour=answer.hue))
            st.markdown(plain(answer.sentence or "No sentence was stored.", limit=_LONG))


def show_reasons(verdict: StoredVerdict) -> None:
    with st.container(border=True, gap="xsmall", height="stretch"):
        panel_title("Why, and what to mind")
        if not verdict.reasons and not verdict.notes:
            st.caption("No reservation was stored with this verdict.")
        for reason in verdict.reasons:
            st.markdown(f":orange[:material/priority_high:] {plain(reason, limit=_LONG)}")
        for note in verdict.notes:
            st.markdown(f":gray[:material/info:] {plain(note, limit=_LONG)}")
        if verdict.basis:
            st.caption(plain(verdict.basis, limit=_LONG))


def show_next_steps(verdict: StoredVerdict | None) -> None:
    with st.container(border=True, gap="xsmall", height="stretch"):
        panel_title("Next best experiment")
        steps = verdict.next_steps if verdict else ()
        if not steps:
            st.caption("None was named with this verdict.")
        for number, step in enumerate(steps, start=1):
            st.markdown(f"**{number}** {plain(step, limit=_LONG)}")


def hypothesis_name(facts: VerdictFacts) -> str:
    return f"{format_id(IdKind.HYPOTHESIS, facts.hypothesis_id)} {facts.slug}"


def _answers_text(verdict: StoredVerdict) -> str:
    return " ".join(
        f":gray[{answer.short_question}:] {badge(answer.word, colour=answer.hue)}"
        for answer in verdict.answers
    )
