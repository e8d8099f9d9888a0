"""`decisive try URL`: one stored run against a server that runs already, without any file."""

import asyncio
import os
from collections.abc import Sequence
from enum import StrEnum
from shlex import quote
from typing import Annotated

import typer

from db.store import Store, open_store
from db.store_url import DEFAULT_STORE_URL
from db.vocabulary import Outcome, OutcomeClass
from runner.campaign.campaign_shape import DEFAULT_CORRUPT
from runner.campaign.file_shape import MAX_SEED
from runner.campaign.stack_file import Endpoint
from runner.cli.console import say, tell
from runner.cli.corrupt_examples import corrupt_examples
from runner.cli.opening import OpenedCampaign
from runner.cli.options import JsonOption, StoreOption
from runner.cli.run_command import run_and_report
from runner.control.error_texts import errors_without
from runner.errors import UsageError
from runner.execute.server_address import base_url_of
from runner.execute.trial import FoundServer, TrialRequest, find_server, trial_campaign
from runner.stacks.service_connection import ServiceKeys, control_client, secrets_of_service
from runner.stacks.service_launch import endpoint_launch

_NEXT = (
    "every session is in the store: `decisive show try{store}` prints the run again, `decisive "
    "up{store}` shows each session; with --seed {seed} the same dialogues are played again.\n"
    "To vary a switch of the server, write a stack file with `controller: external` and "
    "`base_url: {url}`, and a campaign: see README.md"
)


class TriedScenario(StrEnum):
    """Those that need nothing but a seed."""

    TOOL_DIALOGUE = "tool-dialogue"
    PROBE = "probe"
    LONG_CONTEXT = "long-context"


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
        int | None, typer.Option(min=0, max=MAX_SEED, help="Of the dialogues; new each time.")
    ] = None,
    scenario: Annotated[
        TriedScenario,
        typer.Option(help="What a session does; `probe` demands each call by tool_choice."),
    ] = TriedScenario.TOOL_DIALOGUE,
    corrupt: Annotated[
        str,
        typer.Option(
            metavar="OUTCOMES",
            help="What counts as corrupt, of leak, no_tool, malformed, wrong, degenerate.",
        ),
    ] = ",".join(DEFAULT_CORRUPT),
    api_key_env: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The environment variable with the server's API key."),
    ] = None,
    store: StoreOption = DEFAULT_STORE_URL,
    as_json: JsonOption = False,
) -> None:
    """Drive tool-calling sessions against URL and say how many were corrupt."""
    base_url = base_url_of(url)
    with open_store(store) as opened:
        request = TrialRequest(
            base_url=base_url,
            model=model,
            concurrency=concurrency,
            sessions=sessions or concurrency,
            rounds=rounds,
            context_tokens=context_tokens,
            max_tokens=max_tokens,
            # A seed makes a definition: the same trial twice would find its run done already.
            seed=seed if seed is not None else opened.clock.utc_us() % 1_000_000_007,
            api_key_env=api_key_env,
            scenario=scenario.value,
            corrupt=_outcomes(corrupt),
        )
        campaign, stack = trial_campaign(request, asyncio.run(_find(request)))
        came_of_it = run_and_report(OpenedCampaign(campaign, stack), opened, as_json=as_json)
        if not as_json:
            if came_of_it.campaign_id is not None:
                _say_corrupt_sessions(opened, came_of_it.campaign_id, request.corrupt, store)
            of_store = "" if store == DEFAULT_STORE_URL else f" --store {quote(store)}"
            tell(_NEXT.format(url=base_url, seed=request.seed, store=of_store))
    raise typer.Exit(came_of_it.status)


def _say_corrupt_sessions(
    store: Store, campaign_id: int, corrupt: Sequence[str], store_option: str
) -> None:
    for line in corrupt_examples(store, campaign_id, corrupt, store_option=store_option):
        say(line)


def _outcomes(listed: str) -> tuple[str, ...]:
    named = tuple(word.strip() for word in listed.split(",") if word.strip())
    allowed = [each for each in Outcome if each.outcome_class is OutcomeClass.CORRUPT]
    unknown = [word for word in named if word not in allowed]
    if unknown or not named:
        said = f"{unknown[0]!r} is no outcome" if unknown else "no outcome is named"
        raise UsageError(f"--corrupt: {said}; allowed, with commas between: {', '.join(allowed)}")
    return named


async def _find(request: TrialRequest) -> FoundServer:
    endpoint = endpoint_launch(Endpoint(request.base_url, "", request.api_key_env))
    keys = ServiceKeys(os.environ)
    keys.use([endpoint])
    secrets = secrets_of_service(endpoint.definition, os.environ)
    async with control_client(None, environment=os.environ, keys=keys, secrets=secrets) as http:
        with errors_without(secrets):
            return await find_server(request, http)
