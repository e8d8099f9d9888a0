"""Runs one campaign in this process, with a heartbeat, until it ends or is told to stop."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from db.store import Store
from runner.campaign.campaign import Campaign
from runner.campaign.stack_file import Stack
from runner.event_loop import run_on_loop
from runner.execute.campaign_loop import CampaignEnd, run_campaign
from runner.execute.heartbeat import heartbeat
from runner.execute.progress import ProgressListener
from runner.execute.stop_request import StopRequest, stopping_on_signals
from runner.execute.watchdog import GRACE_S, Watchdog, WatchdogPatience, guarded
from runner.execute.worker_identity import holder_of


class AttendedEnd(NamedTuple):
    """`end` is None where the campaign was stopped at once."""

    end: CampaignEnd | None
    was_asked: bool
    budget_spent: bool


def run_attended(
    campaign: Campaign,
    stack: Stack,
    *,
    store: Store,
    progress: ProgressListener,
    said: Callable[[str], None],
    budget_s: float | None = None,
    grace_s: float = GRACE_S,
) -> AttendedEnd:
    """`said` hears of signals, and of a budget that is spent, after which the sessions in flight
    have `grace_s`.
    """
    stop = StopRequest()
    patience = WatchdogPatience(budget_s=budget_s, grace_s=grace_s)
    with guarded(stop, patience=patience, said=said) as watchdog:
        end = run_on_loop(_run(campaign, stack, store, progress, said, stop, watchdog))
    return AttendedEnd(end, was_asked=stop.was_asked, budget_spent=watchdog.budget_spent)


async def _run(
    campaign: Campaign,
    stack: Stack,
    store: Store,
    progress: ProgressListener,
    said: Callable[[str], None],
    stop: StopRequest,
    watchdog: Watchdog,
) -> CampaignEnd | None:
    holder = holder_of("run")
    watchdog.attach(asyncio.get_running_loop())
    try:
        with stopping_on_signals(stop, said=said):
            async with heartbeat(store, holder, doing=lambda: f"campaign {campaign.name}"):
                running = asyncio.create_task(
                    run_campaign(
                        campaign, stack, store=store, worker=holder, stop=stop, progress=progress
                    ),
                    name="campaign",
                )
                stop.bind(running)
                return await running
    except asyncio.CancelledError:
        return None
