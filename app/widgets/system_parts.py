"""Parts of the system page: the store, who works on it, what waits, and which versions run."""

import platform
import sqlite3
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pandas as pd
import streamlit as st

from app import reads_cache
from app.markdown_text import plain
from app.settings import read_settings
from app.widgets.panel_title import panel_title
from app.widgets.sidebar import SILENT_AFTER_S
from app.wording import ago_text, bytes_text
from db.reads.work import StackLeaseFacts, WorkerFacts
from db.store_url import parse_store_url
from db.vocabulary import LaunchRequestState
from runner.evidence.wording import duration_text, moment_text

_PACKAGES = ("streamlit", "plotly", "pandas", "sqlmodel", "sqlalchemy")
_SECOND_US = 1_000_000


def show_store() -> None:
    with st.container(border=True, gap="xsmall", height="stretch"):
        panel_title("Store")
        url = parse_store_url(read_settings().store_url)
        rows = {"Address": plain(str(url) if url.path is None else str(url.path.resolve()))}
        if url.path is not None:
            rows |= file_sizes(url.path)
        rows["Schema"] = f"version {reads_cache.schema_version()}"
        rows["Clock of the store"] = moment_text(reads_cache.now_us())
        st.table(rows, border="horizontal", hide_header=True)


def file_sizes(path: Path) -> dict[str, str]:
    """The database and its write-ahead log, which grows while a reader holds it back."""
    sizes = {}
    for name, file in (("File", path), ("Write-ahead log", Path(f"{path}-wal"))):
        try:
            sizes[name] = bytes_text(file.stat().st_size)
        except OSError:
            sizes[name] = "none"
    return sizes


def show_workers() -> None:
    """All that ever worked here and were not forgotten, the newest heartbeat first."""
    now_us = reads_cache.now_us()
    with st.container(border=True, gap="xsmall", height="stretch"):
        panel_title("Workers")
        rows = [worker_row(worker, now_us=now_us) for worker in reads_cache.work_now().workers]
        if not rows:
            st.caption("No worker was ever here. Start one: `decisive worker`")
            return
        st.dataframe(pd.DataFrame(rows), hide_index=True, row_height=28, alt="Workers")


def worker_row(worker: WorkerFacts, *, now_us: int) -> dict[str, str]:
    age_s = max(0.0, (now_us - worker.heartbeat_at_us) / _SECOND_US)
    if worker.ended_at_us is not None:
        state = "ended"
    else:
        state = "silent" if age_s > SILENT_AFTER_S else "alive"
    return {
        "worker": worker.name,
        "state": state,
        "heartbeat": f"{duration_text(age_s)} ago",
        "doing": worker.doing or ("idle" if state == "alive" else ""),
        "host": worker.host,
        "process": str(worker.process_id),
        "since": moment_text(worker.started_at_us),
    }


def show_requests() -> None:
    now_us = reads_cache.now_us()
    with st.container(border=True, gap="xsmall"):
        panel_title("Last requests")
        rows = [
            {
                "request": f"q-{request.id}",
                "campaign file": request.campaign_file,
                "state": _request_state(request.state),
                "asked for": ago_text(request.requested_at_us, now_us=now_us),
                "by": request.requested_by or "",
                "worker": request.worker or "",
                "said": request.message or "",
            }
            for request in reads_cache.work_now().recent_requests
        ]
        if not rows:
            st.caption("Nothing was ever queued here.")
            return
        st.dataframe(pd.DataFrame(rows), hide_index=True, row_height=28, alt="Last requests")


def _request_state(state: str) -> str:
    """In the word of the queue above."""
    return "running" if state == LaunchRequestState.CLAIMED else state


def show_stacks() -> None:
    now_us = reads_cache.now_us()
    with st.container(border=True, gap="xsmall"):
        panel_title("Stacks in use")
        rows = [lease_row(lease, now_us=now_us) for lease in reads_cache.stack_leases()]
        if not rows:
            st.caption("No stack is held by a worker.")
            return
        st.dataframe(pd.DataFrame(rows), hide_index=True, row_height=28, alt="Stack leases")


def lease_row(lease: StackLeaseFacts, *, now_us: int) -> dict[str, str]:
    left_s = (lease.lease_until_us - now_us) / _SECOND_US
    return {
        "stack": lease.stack,
        "holder": lease.holder,
        "host": lease.host,
        "since": moment_text(lease.acquired_at_us),
        "lease": f"{duration_text(left_s)} left" if left_s > 0 else "expired",
    }


def show_versions() -> None:
    with st.container(border=True, gap="xsmall", height="stretch"):
        panel_title("Versions of this dashboard")
        rows = {"Decisive": plain(_version("decisive-test"))}
        rows |= {name: plain(_version(name)) for name in _PACKAGES}
        rows["Python"] = plain(platform.python_version())
        rows["SQLite"] = plain(sqlite3.sqlite_version)
        st.table(rows, border="horizontal", hide_header=True)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed as a package"
