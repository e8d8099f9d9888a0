"""Runs one campaign in this process, with a heartbeat, until it ends or is told to stop."""

import asyncio
from collections.abc import Callable

from db.store import Store
from runner.campaign.campaign import Campaign
from runner.campaign.stack_file import Stack
from runner.execute.campaign_loop import CampaignEnd, run_campaign
from runner.execute.heartbeat import heartbeat
from runner.execute.progress import ProgressListener
from runner.execute.stop_request import StopRequest, stopping_on_signals
from runner.execute.worker_identity import holder_of


def run_attended(
    campaign: Campaign,
    stack: Stack,
    *,
    store: Store,
    progress: ProgressListener,
    said: Callable[[str], None],
) -> CampaignEnd | None:
    """How the campaign ended; None where it was stopped at once. `said` hears of signals."""
    return asyncio.run(_run(campaign, stack, store, progress, said))


async def _run(
    campaign: Campaign,
    stack: Stack,
    store: Store,
    progress: ProgressListener,
    said: Callable[[str], None],
) -> CampaignEnd | None:
    holder = holder_of("run")
    stop = StopRequest()
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
