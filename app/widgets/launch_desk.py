"""The dashboard's only writes: put a request into the queue, ask for a stop, add a note.

What comes from the browser is a name and words; both are checked against the files on the server
before anything is written.
"""

from collections.abc import Mapping, Sequence

import streamlit as st

from app import reads_cache
from app.errors import UnreadableStoreError
from app.markdown_text import plain
from app.settings import read_settings
from app.wording import ago_text
from db.campaigns import add_note
from db.errors import StoreError
from db.launch_queue import enqueue, request_stop
from db.reads.work import LaunchRequestFacts
from db.store import open_store
from db.vocabulary import LaunchRequestState


def queue_campaign(
    file_name: str, *, levels: Mapping[str, Sequence[object]], order_seed: int | None
) -> int:
    """The id of the new request. Raises UnreadableStoreError where it cannot be written."""
    try:
        with open_store(read_settings().store_url) as store:
            request = enqueue(
                store,
                file_name,
                levels={factor: list(chosen) for factor, chosen in levels.items()},
                order_seed=order_seed,
                requested_by="dashboard",
            )
    except StoreError as error:
        raise UnreadableStoreError(str(error)) from error
    reads_cache.forget_answers()
    return request.id or 0


def write_note(campaign_id: int, text: str, author: str) -> None:
    """Raises UnreadableStoreError where it cannot be written."""
    try:
        with open_store(read_settings().store_url) as store:
            add_note(store, campaign_id, text, author=author or None)
    except StoreError as error:
        raise UnreadableStoreError(str(error)) from error
    reads_cache.forget_answers()


def stop_button(request: LaunchRequestFacts, *, key: str) -> None:
    """Stop what waits at once, and what runs after the sessions in flight."""
    if request.stop_requested:
        st.caption("Stop requested; the sessions in flight end first.", width="content")
        return
    is_running = request.state == LaunchRequestState.CLAIMED
    label = "Stop" if is_running else "Take out of the queue"
    if st.button(label, icon=":material/stop_circle:", key=key):
        try:
            with open_store(read_settings().store_url) as store:
                request_stop(store, request.id)
        except StoreError as error:
            st.error(plain(str(error)), title="The stop could not be recorded")
            return
        reads_cache.forget_answers()
        st.rerun()


def show_queue() -> None:
    """Requests that wait or run, and the last one that failed."""
    now = reads_cache.work_now()
    failed = [
        request for request in now.recent_requests[:3] if request.state == LaunchRequestState.FAILED
    ]
    if not now.open_requests and not failed:
        return
    with st.container(border=True, gap="xsmall"):
        st.markdown("##### Queue")
        for request in now.open_requests:
            with st.container(
                horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
            ):
                st.markdown(_request_words(request, reads_cache.now_us()), width="content")
                stop_button(request, key=f"stop q-{request.id}")
        for request in failed:
            said = request.message or "no reason was recorded"
            st.markdown(
                f":orange[:material/warning:] q-{request.id} {plain(request.campaign_file)} "
                f"failed: {plain(said)}"
            )


def request_of_campaign(campaign_id: int) -> LaunchRequestFacts | None:
    """The claimed request that a campaign's runs belong to, where the queue started it."""
    for request in reads_cache.work_now().open_requests:
        if request.campaign_id == campaign_id:
            return request
    return None


def _request_words(request: LaunchRequestFacts, now_us: int) -> str:
    state = "running" if request.state == LaunchRequestState.CLAIMED else "queued"
    by = f" on {request.worker}" if request.worker else ""
    asked = ago_text(request.requested_at_us, now_us=now_us)
    words = plain(f"{request.campaign_file} {state}{by}, asked for {asked}")
    return f"q-{request.id} {words}"
