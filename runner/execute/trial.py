"""A campaign without a file: one arm, one run, against a server that somebody else started."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from io import StringIO
from typing import Any

import httpx
from ruamel.yaml import YAML

from runner.campaign.campaign import Campaign
from runner.campaign.campaign_file import campaign_of
from runner.campaign.campaign_shape import DEFAULT_CORRUPT
from runner.campaign.stack_file import Stack, stack_of
from runner.campaign.stack_shape import MetricsDialect
from runner.campaign.yaml_source import parse_yaml
from runner.control.capped_page import NO_PAGE, Page, fetch_page, said_by
from runner.errors import UsageError
from runner.observe.exposition import read_exposition
from runner.observe.metric_dialects import dialect_of

PROBE_DEADLINE_S = 10.0

METRICS_PATHS = ("/metrics", "/engine_metrics")
"""SGLang's router has its own words, or none, at the first, and those of its workers at the other:
only these say which of them decodes."""


@dataclass(frozen=True, slots=True)
class TrialRequest:
    """What `decisive try` was asked. `model` None: the first that the server lists.

    `api_key_env` names the environment variable with the key.
    """

    base_url: str
    model: str | None
    concurrency: int
    sessions: int
    rounds: int
    context_tokens: int
    max_tokens: int
    seed: int
    api_key_env: str | None = None
    scenario: str = "tool-dialogue"
    corrupt: tuple[str, ...] = DEFAULT_CORRUPT


@dataclass(frozen=True, slots=True)
class FoundServer:
    """What a server offers besides chat, as far as it could be seen without changing anything."""

    model: str
    reports_itself: bool
    metrics_dialect: str | None
    metrics_path: str = METRICS_PATHS[0]


async def find_server(request: TrialRequest, http: httpx.AsyncClient) -> FoundServer:
    """Asks the server who it is. Raises UsageError where nothing answers at that address."""
    base_url = request.base_url.rstrip("/")
    try:
        models = await fetch_page(http, f"{base_url}/v1/models", deadline_s=PROBE_DEADLINE_S)
    except (*NO_PAGE, UnicodeError) as error:
        said = said_by(error, deadline_s=PROBE_DEADLINE_S)
        raise UsageError(f"no server answers at {base_url}/v1/models: {said}") from error
    model = request.model or _first_model(models, base_url)
    if not model.strip() or not model.isprintable():
        raise UsageError(f"{model!r} is no name of a model: name one with --model")
    info = await _page(http, f"{base_url}/server_info")
    path, dialect = await _metrics(http, base_url)
    return FoundServer(
        model=model,
        reports_itself=info is not None and info.lstrip().startswith("{"),
        metrics_dialect=dialect,
        metrics_path=path,
    )


def trial_campaign(request: TrialRequest, found: FoundServer) -> tuple[Campaign, Stack]:
    """The campaign and the stack as if they had been written as files, and checked like those."""
    host = httpx.URL(request.base_url).host
    campaign = {
        "campaign": "try",
        "question": f"Does {found.model} at {host} garble tool calls at {request.concurrency} "
        "concurrent sessions?",
        "stack": "try",
        "factors": {"concurrency": [request.concurrency]},
        "workload": {
            "scenario": request.scenario,
            "sessions": request.sessions,
            "rounds": request.rounds,
            "context_tokens": request.context_tokens,
            "max_tokens": request.max_tokens,
            "seed": request.seed,
        },
        "schedule": {"blocks": 1, "restart": "when_needed"},
        "corrupt": [str(outcome) for outcome in request.corrupt],
    }
    service: dict[str, Any] = {
        "controller": "external",
        "base_url": request.base_url.rstrip("/"),
        "health": None,
    }
    if request.api_key_env is not None:
        service["api_key_env"] = request.api_key_env
    if found.reports_itself:
        service["server_info"] = "/server_info"
    if found.metrics_dialect is not None:
        service["metrics"] = {"path": found.metrics_path, "dialect": found.metrics_dialect}
    stack = {
        "stack": "try",
        "description": f"A server at {host} that runs already.",
        "model": found.model,
        "services": {"server": service},
    }
    return (
        campaign_of(parse_yaml("(decisive try)", _as_yaml(campaign))),
        stack_of(parse_yaml("(decisive try)", _as_yaml(stack))),
    )


def _as_yaml(value: Mapping[str, Any]) -> str:
    text = StringIO()
    YAML(typ="safe").dump(dict(value), text)
    return text.getvalue()


def _first_model(answer: Page, base_url: str) -> str:
    try:
        return str(json.loads(answer.content)["data"][0]["id"])
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise UsageError(f"{base_url}/v1/models lists no model; name one with --model") from error


async def _metrics(http: httpx.AsyncClient, base_url: str) -> tuple[str, str | None]:
    """The first page in a dialect that is known, else the first that speaks of requests at all."""
    guessed: list[tuple[str, str | None]] = []
    for path in METRICS_PATHS:
        dialect = _dialect_of(await _page(http, f"{base_url}{path}"))
        if dialect not in (None, MetricsDialect.AUTO):
            return path, dialect
        if dialect is not None:
            guessed.append((path, dialect))
    return next(iter(guessed), (METRICS_PATHS[0], None))


def _dialect_of(page: str | None) -> str | None:
    """None where there are no metrics, or none that speak of requests."""
    try:
        dialect = dialect_of(read_exposition(page.encode())) if page is not None else None
    except ValueError:
        return None
    known = dialect is not None and dialect.name in list(MetricsDialect)
    return None if dialect is None else dialect.name if known else MetricsDialect.AUTO.value


async def _page(http: httpx.AsyncClient, url: str) -> str | None:
    try:
        answer = await fetch_page(http, url, deadline_s=PROBE_DEADLINE_S)
    except NO_PAGE:
        return None
    return answer.text if answer.status == HTTPStatus.OK else None
