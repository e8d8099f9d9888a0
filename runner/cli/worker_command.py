"""`decisive worker`: serves the queue that the dashboard fills."""

import asyncio
import os
from typing import Annotated

import typer

from db.store import Store, open_store
from db.store_url import DEFAULT_STORE_URL
from runner.campaign.config_folder import ConfigFolder
from runner.cli.chosen_configs import open_configs
from runner.cli.console import ExitStatus, say, tell
from runner.cli.live_progress import plain_progress
from runner.cli.options import ConfigsOption, StoreOption
from runner.event_loop import run_on_loop
from runner.execute.stop_request import StopRequest, stopping_on_signals
from runner.execute.supervisor import SUPERVISED_VARIABLE
from runner.execute.watchdog import Watchdog, WatchdogPatience, guarded
from runner.execute.worker import Worker
from runner.execute.worker_identity import holder_of


def worker(
    store: StoreOption = DEFAULT_STORE_URL,
    configs: ConfigsOption = None,
    until_empty: Annotated[
        bool, typer.Option("--until-empty", help="End when nothing waits any more.")
    ] = False,
) -> None:
    """Run what is launched from the dashboard, one campaign after the other."""
    folder = open_configs(configs)
    with open_store(store) as opened:
        tell(f"worker on {opened.url}, configs {folder.path.resolve()}")
        stop = StopRequest()
        with guarded(stop, patience=WatchdogPatience(), said=tell) as watchdog:
            finished = run_on_loop(_work(opened, folder, stop, watchdog, until_empty=until_empty))
    if not finished:
        raise typer.Exit(ExitStatus.INTERRUPTED)


async def _work(
    store: Store,
    configs: ConfigFolder,
    stop: StopRequest,
    watchdog: Watchdog,
    *,
    until_empty: bool,
) -> bool:
    """False where it was stopped at once."""
    watchdog.attach(asyncio.get_running_loop())
    serving = Worker(
        store=store,
        configs=configs,
        holder=holder_of("worker"),
        stop=stop,
        progress=plain_progress(say),
    )
    is_supervised = SUPERVISED_VARIABLE in os.environ
    with stopping_on_signals(stop, said=tell, is_supervised=is_supervised):
        task = asyncio.create_task(serving.work(until_empty=until_empty), name="worker")
        stop.bind(task)
        try:
            await task
        except asyncio.CancelledError:
            return False
    return True
