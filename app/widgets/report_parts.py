"""The choices of the report page and what it shows of the report; state is in the address."""

from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from app import reads_cache
from app.links import ReportForm, ReportPlace, query_of
from app.markdown_text import plain, selected
from app.records import Board
from app.report_choice import (
    FORM_WORDS,
    command_of,
    format_of,
    project_of,
    subject_of,
    taken_out,
    withheld,
)
from app.report_data import bundle_file, table_file, tables_of
from app.widgets.navigation import stay_at
from app.wording import bytes_text, counted_noun
from db.identifiers import IdKind, format_id
from runner.errors import UsageError
from runner.report.pdf import PDF_MISSING, pdf_is_available
from runner.report.redaction import Redacted
from runner.report.stored_report import ReportScope

SHOWN_CHARACTERS = 200_000
MADE_AT_ONCE = 20_000
"""Sessions of a report that is made unasked, which takes some ten seconds."""

_WHOLE = 0
_ZIP_TYPE = "application/zip"
_TABLE_TYPES = {
    ReportForm.CSV: "text/csv",
    ReportForm.PARQUET: "application/vnd.apache.parquet",
}
_REDACTION_WORDS = {Redacted.HOSTS: "Hosts and folders", Redacted.PROMPTS: "Prompts"}


def pick_subject(board: Board, place: ReportPlace) -> None:
    """The campaign or an arm of it, and the arm to compare that with."""
    if place.session is not None:
        session = format_id(IdKind.SESSION, place.session)
        st.markdown(f"**{session}**", width="content")
        return
    names = {arm.id: arm.name for arm in board.arms}
    words = {_WHOLE: "The whole campaign", **names}
    _pick(
        "About",
        words,
        place.arm or _WHOLE,
        lambda arm: replace(place, arm=arm or None, versus=None),
    )
    if place.arm is not None:
        others = {_WHOLE: "Nothing", **{k: v for k, v in names.items() if k != place.arm}}
        _pick(
            "Compared with",
            others,
            place.versus or _WHOLE,
            lambda arm: replace(place, versus=arm or None),
        )


def pick_form(place: ReportPlace) -> None:
    key = f"form {place}"

    def remember() -> None:
        stay_at(replace(place, form=st.session_state[key] or place.form))

    def label(form: ReportForm) -> str:
        return selected(FORM_WORDS[form]) if form is place.form else FORM_WORDS[form]

    st.segmented_control(
        "As",
        list(ReportForm),
        default=place.form,
        format_func=label,
        required=True,
        key=key,
        on_change=remember,
    )


def pick_redaction(place: ReportPlace) -> None:
    key = f"without {place}"

    def remember() -> None:
        stay_at(replace(place, without=withheld(st.session_state[key])))

    picked = list(taken_out(place.without))
    st.pills(
        "Take out, besides keys",
        list(_REDACTION_WORDS),
        selection_mode="multi",
        default=picked,
        format_func=lambda part: (
            selected(_REDACTION_WORDS[part]) if part in picked else _REDACTION_WORDS[part]
        ),
        key=key,
        on_change=remember,
    )


def show_report(board: Board, place: ReportPlace) -> None:
    """The download, the command that gives the same bytes, and the report as it is exported."""
    st.code(command_of(place, campaign_id=board.campaign.id), language=None)
    if not place.form.is_document:
        _offer_data(board, place)
        return
    if place.form is ReportForm.PDF:
        _offer_pdf(board, place)
        return
    if not _is_asked_for(board, place):
        return
    try:
        made = _made(board, place)
    except UsageError as error:
        st.warning(plain(f"{str(error)[:1].upper()}{str(error)[1:]}."))
        return
    _download(board, place, made, size=f" ({bytes_text(len(made))})")
    text = made.decode()
    if place.form is ReportForm.HTML:
        # As an address of its own kind it has no origin, and so no way into this page.
        encoded = b64encode(made).decode()
        st.iframe(f"data:text/html;charset=utf-8;base64,{encoded}", height=900)
        return
    with st.container(height=900, border=False):
        st.code(text[:SHOWN_CHARACTERS], language=None, wrap_lines=True)
    if len(text) > SHOWN_CHARACTERS:
        st.caption("Only its beginning is shown here; the download has it whole.")


def _is_asked_for(board: Board, place: ReportPlace) -> bool:
    """A report on very many sessions is made when somebody wants to wait for it."""
    arms = {place.arm, place.versus} - {None}
    runs = [run for run in board.runs if not arms or run.arm_id in arms]
    sessions = sum(run.n_ended for run in runs)
    key = f"asked for the report on {query_of(replace(place, form=ReportForm.MARKDOWN))}"
    if place.session is not None or sessions <= MADE_AT_ONCE or st.session_state.get(key):
        return True
    st.caption(
        f"It is about {counted_noun(sessions, 'session')} in {counted_noun(len(runs), 'run')}, "
        "which takes minutes to work through: here when you ask for it, or by the command above."
    )
    st.button(
        "Make the report",
        icon=":material/description:",
        on_click=lambda: st.session_state.update({key: True}),
    )
    return False


def _offer_pdf(board: Board, place: ReportPlace) -> None:
    """It is made when it is asked for, for setting it takes seconds."""
    if pdf_is_available():
        _download(board, place, partial(_made, board, place))
        st.caption("It is made when you ask for it. HTML shows the same here.")
    else:
        st.warning(plain(f"{PDF_MISSING[:1].upper()}{PDF_MISSING[1:]}."))


def _offer_data(board: Board, place: ReportPlace) -> None:
    """Made when it is asked for; each table is a file, for a browser takes no folder."""
    scope = ReportScope(board.campaign, place.arm, place.versus, place.session)
    without, name = taken_out(place.without), _file_name(board, place)
    if place.form is ReportForm.BUNDLE:
        _offer_file(
            "Download Bundle", partial(bundle_file, scope, without), f"{name}.zip", _ZIP_TYPE
        )
        st.caption(
            "The report, its tables, the campaign file, fingerprints, transcripts of failing "
            "sessions, logs and black boxes. It is made when you ask for it."
        )
        return
    with st.container(horizontal=True):
        for table in tables_of(scope, without):
            _offer_file(
                f"Download {table.name}",
                partial(table_file, scope, without, place.form, table),
                f"{name}-{table.name}.{place.form}",
                _TABLE_TYPES[place.form],
            )
    st.caption("One file a table, the same as in the folder that the command writes.")


def _offer_file(label: str, made: Callable[[], bytes], name: str, media_type: str) -> None:
    st.download_button(
        label,
        data=made,
        file_name=name,
        mime=media_type,
        icon=":material/download:",
        on_click="ignore",
    )


def _file_name(board: Board, place: ReportPlace) -> str:
    return subject_of(place, campaign_name=board.campaign.name).replace(" --versus ", "-v-")


def _made(board: Board, place: ReportPlace) -> bytes:
    return reads_cache.report_file(
        board.campaign.id,
        arm_id=place.arm,
        versus_id=place.versus,
        session_id=place.session,
        form=format_of(place.form),
        project=project_of(place.form),
        taken_out=taken_out(place.without),
    )


def _download(
    board: Board, place: ReportPlace, data: bytes | Callable[[], bytes], *, size: str = ""
) -> None:
    form = format_of(place.form)
    name = _file_name(board, place)
    st.download_button(
        f"Download {FORM_WORDS[place.form]}{size}",
        data=data,
        file_name=f"{name}{form.suffix}",
        mime=form.media_type,
        icon=":material/download:",
        on_click="ignore",
    )


def _pick(
    label: str, words: dict[int, str], chosen: int, changed: Callable[[int], ReportPlace]
) -> None:
    key = f"{label} {chosen}"

    def remember() -> None:
        stay_at(changed(st.session_state[key]))

    st.selectbox(
        label,
        list(words),
        index=list(words).index(chosen),
        format_func=words.__getitem__,
        key=key,
        on_change=remember,
        width=420,
    )
