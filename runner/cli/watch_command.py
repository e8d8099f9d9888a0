"""`decisive watch`: looks at a stack that runs already, and finds wedges, without any load."""

import asyncio
import os
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from db.clock import SystemClock
from runner.campaign.stack_file import load_stack
from runner.cli.chosen_configs import open_configs
from runner.cli.console import ExitStatus, say, tell
from runner.cli.options import ConfigsOption
from runner.cli.stack_commands import addresses_of
from runner.control.error_texts import errors_without
from runner.execute.stack_watch import StackWatch, WatchSetting, found_services
from runner.execute.stop_request import StopRequest, stopping_on_signals
from runner.observe.event_catalogue import load_catalogue
from runner.observe.wedge_spans import LONGEST_PAUSE_LIMIT_S
from runner.stacks.service_connection import ServiceKeys, control_client, secrets_of


def watch(
    stack: Annotated[str, typer.Argument(metavar="STACK", help="A stack of the configs.")],
    url: Annotated[
        list[str] | None,
        typer.Option("--url", metavar="SERVICE=URL", help="Where a service runs, if not there."),
    ] = None,
    for_minutes: Annotated[
        float | None, typer.Option("--for-minutes", min=0.001, help="How long; else until Ctrl-C.")
    ] = None,
    longest_pause_s: Annotated[
        float,
        typer.Option("--longest-pause", min=1, help="Seconds in which a healthy server may rest."),
    ] = LONGEST_PAUSE_LIMIT_S,
    canary: Annotated[
        bool, typer.Option("--canary/--no-canary", help="Confirm a stillness with one request.")
    ] = True,
    folder: Annotated[Path, typer.Option("--boxes", help="Where black boxes are written.")] = Path(
        "decisive-wedges"
    ),
    configs: ConfigsOption = None,
) -> None:
    """Observe a stack and detect wedges without load; 1 if one was seen."""
    config_folder = open_configs(configs)
    opened = load_stack(config_folder.stack_path(stack))
    setting = WatchSetting(
        stack=opened,
        addresses=addresses_of(url or []),
        catalogue=load_catalogue(config_folder.event_files()),
        folder=folder,
        sends_canaries=canary,
        secrets=secrets_of(opened, os.environ),
        longest_pause_s=longest_pause_s,
    )
    with errors_without(setting.secrets):
        status = asyncio.run(_watch(setting, for_minutes))
    raise typer.Exit(status)


async def _watch(setting: WatchSetting, for_minutes: float | None) -> ExitStatus:
    stop = StopRequest()
    keys = ServiceKeys(os.environ)
    keys.use(found_services(setting.stack, setting.addresses))
    async with control_client(
        setting.stack, environment=os.environ, keys=keys, secrets=setting.secrets
    ) as http:
        watching = StackWatch(setting=setting, http=http, clock=SystemClock(), say=_say_with_time)
        with stopping_on_signals(stop, said=_say_stop):
            task = asyncio.create_task(watching.watch(stop.soft), name="watch")
            stop.bind(task)
            timer = (
                asyncio.get_running_loop().call_later((for_minutes or 0) * 60, stop.soft.set)
                if for_minutes is not None
                else None
            )
            try:
                await task
            except asyncio.CancelledError:
                return ExitStatus.INTERRUPTED
            finally:
                if timer is not None:
                    timer.cancel()
    if stop.was_asked:
        return ExitStatus.INTERRUPTED
    return ExitStatus.SOME_FAILED if watching.wedges else ExitStatus.FINE


def _say_stop(_: str) -> None:
    """The words of a campaign's stop speak of sessions, of which a watch has none."""
    tell("stopping the watch")


def _say_with_time(text: str) -> None:
    say(f"{datetime.now().astimezone():%H:%M:%S} {text}")
