"""The dashboard's only writes: put a request into the queue, ask for a stop, add a note.

What comes from the browser is a name and words; both are checked against the files on the server
before anything is written.
"""

from collections.abc import Mapping, Sequence

import streamlit as st

from app import reads_cache
from app.errors import UnreadableStoreError
from app.kept_answers import forget_answers
from app.markdown_text import plain
from app.settings import read_settings
from app.widgets.panel_title import panel_title
from app.wording import ago_text, until_decided_words
from db.campaigns import add_note
from db.errors import StoreError
from db.launch_queue import enqueue, request_stop
from db.reads.work import LaunchRequestFacts
from db.store import open_store
from db.vocabulary import LaunchRequestState


def queue_campaign(
    file_name: str,
    *,
    levels: Mapping[str, Sequence[object]],
    order_seed: int | None,
    blocks: int | None = None,
    most_blocks: int | None = None,
    campaign_id: int | None = None,
) -> int:
    """The id of the request; two who ask for the same get the same one.

    Raises UnreadableStoreError where it cannot be written.
    """
    try:
        with open_store(read_settings().store_url) as store:
            request = enqueue(
                store,
                file_name,
                levels={factor: list(chosen) for factor, chosen in levels.items()},
                order_seed=order_seed,
                blocks=blocks,
                most_blocks=most_blocks,
                campaign_id=campaign_id,
                requested_by="dashboard",
                once=True,
            )
    except StoreError as error:
        raise UnreadableStoreError(str(error)) from error
    forget_answers()
    return request.id or 0


def write_note(campaign_id: int, text: str, author: str) -> None:
    """Raises UnreadableStoreError where it cannot be written."""
    try:
        with open_store(read_settings().store_url) as store:
            add_note(store, campaign_id, text, author=author or None)
    except StoreError as error:
        raise UnreadableStoreError(str(error)) from error
    forget_answers()


def stop_button(request: LaunchRequestFacts, *, key: str) -> None:
    """Stop what waits at once, and what runs after the sessions in flight.

    Not "Stop": Streamlit shows a button of that name while it draws, which ends the drawing.
    """
    if request.stop_requested:
        st.caption("Stop requested; the sessions in flight end first.", width="content")
        return
    is_running = request.state == LaunchRequestState.CLAIMED
    label = "Stop campaign" if is_running else "Take out of the queue"
    if st.button(label, icon=":material/stop_circle:", key=key):
        try:
            with open_store(read_settings().store_url) as store:
                request_stop(store, request.id)
        except StoreError as error:
            st.error(plain(str(error)), title="The stop could not be recorded")
            return
        forget_answers()
        st.rerun()


def show_queue() -> None:
    """Requests that wait or run, and what is to be said of the last ones that have ended."""
    now = reads_cache.work_now()
    told = [request for request in now.recent_requests[:3] if _is_to_be_told(request)]
    if not now.open_requests and not told:
        return
    with st.container(border=True, gap="xsmall"):
        panel_title("Queue")
        waiting = 0
        for request in now.open_requests:
            is_waiting = request.state == LaunchRequestState.QUEUED
            waiting += is_waiting
            place = f" :gray[waits as number {waiting}]" if is_waiting else ""
            with st.container(
                horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
            ):
                words = _request_words(request, reads_cache.now_us())
                st.markdown(words + place, width="content")
                stop_button(request, key=f"stop q-{request.id}")
        for request in told:
            said = request.message or "no reason was recorded"
            is_failed = request.state == LaunchRequestState.FAILED
            icon = ":orange[:material/warning:]" if is_failed else ":gray[:material/info:]"
            words = f"{request.campaign_file} {request.state}: {said}"
            st.markdown(f"{icon} q-{request.id} {plain(words)}")


def _is_to_be_told(request: LaunchRequestFacts) -> bool:
    """It failed, or it ended otherwise than whoever launched it will expect."""
    has_said = request.state == LaunchRequestState.DONE and request.message is not None
    return has_said or request.state == LaunchRequestState.FAILED


def request_of_campaign(campaign_id: int) -> LaunchRequestFacts | None:
    """The request that runs the campaign, else the first that waits to go on with it."""
    own = [each for each in reads_cache.work_now().open_requests if each.campaign_id == campaign_id]
    running = [each for each in own if each.state == LaunchRequestState.CLAIMED]
    return next(iter(running or own), None)


def _request_words(request: LaunchRequestFacts, now_us: int) -> str:
    state = "running" if request.state == LaunchRequestState.CLAIMED else "queued"
    by = f" on {request.worker}" if request.worker else ""
    asked = ago_text(request.requested_at_us, now_us=now_us)
    most = f" {until_decided_words(request.most_blocks)}" if request.most_blocks else ""
    words = plain(f"{request.campaign_file} {state}{by}{most}, asked for {asked}")
    waits = f": {plain(request.message)}" if request.message and not request.worker else ""
    return f"q-{request.id} {words}{waits}"
