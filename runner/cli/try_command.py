"""`decisive try URL`: one stored run against a server that runs already, without any file."""

import asyncio
from typing import Annotated

import httpx
import typer

from db.store import open_store
from db.store_url import DEFAULT_STORE_URL
from runner.cli.opening import OpenedCampaign
from runner.cli.options import JsonOption, StoreOption
from runner.cli.run_command import run_and_report
from runner.errors import UsageError
from runner.execute.trial import FoundServer, TrialRequest, find_server, trial_campaign


def try_url(
    url: Annotated[str, typer.Argument(metavar="URL", help="Where the server answers.")],
    model: Annotated[
        str | None, typer.Option(help="The model.", show_default="the first it lists")
    ] = None,
    concurrency: Annotated[int, typer.Option(min=1, help="Sessions at the same time.")] = 80,
    sessions: Annotated[
        int | None, typer.Option(min=1, help="Sessions in all.", show_default="concurrency")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of call and answer a session.")] = 4,
    context_tokens: Annotated[int, typer.Option(min=0, help="Filler of the first request.")] = 140,
    max_tokens: Annotated[int, typer.Option(min=1, help="Of one answer.")] = 400,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Of the dialogues; new each time.")
    ] = None,
    store: StoreOption = DEFAULT_STORE_URL,
    as_json: JsonOption = False,
) -> None:
    """Drive tool-calling sessions against URL and say how many were corrupt."""
    if not url.startswith(("http://", "https://")):
        raise UsageError(f"{url!r} is no address of a server: write http://HOST:PORT")
    with open_store(store) as opened:
        request = TrialRequest(
            base_url=url.rstrip("/").removesuffix("/v1"),
            model=model,
            concurrency=concurrency,
            sessions=sessions or concurrency,
            rounds=rounds,
            context_tokens=context_tokens,
            max_tokens=max_tokens,
            # A seed makes a definition: the same trial twice would find its run done already.
            seed=seed if seed is not None else opened.clock.utc_us() % 1_000_000_007,
        )
        campaign, stack = trial_campaign(request, asyncio.run(_find(request)))
        status = run_and_report(OpenedCampaign(campaign, stack), opened, as_json=as_json)
    raise typer.Exit(status)


async def _find(request: TrialRequest) -> FoundServer:
    async with httpx.AsyncClient(trust_env=False) as http:
        return await find_server(request, http)
