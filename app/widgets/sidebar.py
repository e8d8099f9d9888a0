"""The part of the sidebar below the menu: the campaign that is shown, and who works on what."""

from collections.abc import Sequence
from contextlib import suppress

import streamlit as st

from app import reads_cache
from app.current_campaign import current_campaign
from app.errors import AppError
from app.links import OverviewPlace
from app.markdown_text import plain
from app.widgets.navigation import go_to
from app.widgets.polling import live
from app.wording import SECOND_US
from db.identifiers import IdKind, format_id
from db.reads.campaigns import CampaignFacts
from db.reads.work import WorkerFacts
from runner.campaign.reduction_names import by_reduction
from runner.evidence.wording import duration_text

SILENT_AFTER_S = 15.0
"""A worker beats every two seconds; a busy machine may delay some of them."""

GONE_AFTER_S = 600.0
"""After so much silence nobody waits for a worker any more."""

_MOST_WORKERS = 4


def show_sidebar() -> None:
    with st.sidebar:
        with suppress(AppError):  # the page itself says what is wrong with store or address
            _show_picker()
        live(_show_workers, every_s=5.0)


def _show_picker() -> None:
    current = current_campaign(st.query_params.to_dict())
    if current is None:
        return
    names = offered_campaigns(reads_cache.campaign_list(), current=current)
    if not names:
        return
    ids = list(names)
    picked = st.selectbox(
        "Campaign",
        ids,
        index=ids.index(current) if current in ids else None,
        format_func=lambda key: names[key],
        key=f"campaign picker {current}",
    )
    if picked is not None and picked != current:
        go_to(OverviewPlace(campaign=picked))


def offered_campaigns(newest_first: Sequence[CampaignFacts], *, current: int) -> dict[int, str]:
    """Their words by id; what a reduction made stands under its campaign, and only while one of
    the two is looked at: a reduction makes dozens.
    """
    offered = {}
    for group in by_reduction(newest_first):
        family = (group.campaign, *group.trials)
        is_open = any(campaign.id == current for campaign in family)
        for campaign in family if is_open else family[:1]:
            words = f"{format_id(IdKind.CAMPAIGN, campaign.id)} · {campaign.name}"
            offered[campaign.id] = words if campaign is group.campaign else f"↳ {words}"
    return offered


def _show_workers() -> None:
    try:
        now, now_us = reads_cache.work_now(), reads_cache.now_us()
    except AppError:
        return
    shown = shown_workers(now.workers, now_us=now_us)
    if not shown:
        st.caption("No worker runs. Start one: `decisive worker`")
    one_beats = any(_age_s(worker, now_us) <= SILENT_AFTER_S for worker in shown)
    for worker in shown:
        st.caption(worker_line(worker, now_us=now_us, one_beats=one_beats))
    queued = sum(request.state == "queued" for request in now.open_requests)
    if queued:
        st.caption(f"{queued} queued")


def shown_workers(workers: Sequence[WorkerFacts], *, now_us: int) -> list[WorkerFacts]:
    """Those that beat, and those that fell silent lately; of older ones none, for they are gone."""
    present = [worker for worker in workers if worker.ended_at_us is None]
    recent = [worker for worker in present if _age_s(worker, now_us) < GONE_AFTER_S]
    return recent[:_MOST_WORKERS]


def worker_line(worker: WorkerFacts, *, now_us: int, one_beats: bool = False) -> str:
    """`w-1 driving r-3, heartbeat 2 s ago`, or that it has been silent for too long.

    `one_beats`: a worker is there to go on with what a silent one may have left.
    """
    age_s = _age_s(worker, now_us)
    if age_s > SILENT_AFTER_S:
        silent = f"Worker {plain(worker.name)} silent for {duration_text(age_s)}"
        advice = "" if one_beats else "  \nIf it died, start `decisive worker`."
        return f":orange[:material/warning: {silent}]{advice}"
    doing = plain(worker.doing) if worker.doing else "idle"
    return f"Worker {plain(worker.name)}  \n{doing}  \nheartbeat {round(age_s)} s ago"


def silence_line(name: str | None, workers: Sequence[WorkerFacts], *, now_us: int) -> str | None:
    """What to know of a run in work whose worker does not answer; None where it does."""
    worker = next((each for each in workers if each.name == name), None)
    if (
        worker is not None
        and worker.ended_at_us is None
        and _age_s(worker, now_us) < SILENT_AFTER_S
    ):
        return None
    since = "" if worker is None else f" for {duration_text(_age_s(worker, now_us))}"
    said = f"Its worker has been silent{since}: nothing here moves until a worker takes it up."
    return f":orange[:material/warning: {said}]"


def _age_s(worker: WorkerFacts, now_us: int) -> float:
    return max(0.0, (now_us - worker.heartbeat_at_us) / SECOND_US)
