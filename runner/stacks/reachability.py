"""Whether servers that somebody else runs are still there: of ours, the process says it."""

import asyncio
from http import HTTPStatus

import httpx

from runner.control.capped_page import NO_PAGE, fetch_page
from runner.stacks.running_stack import RunningStack
from runner.stacks.service_launch import ServiceLaunch

ATTEMPTS = 3
PAUSE_S = 0.5
_ANSWER_DEADLINE_S = 5.0
_ANY_PAGE = "/v1/models"
_NOBODY_BEHIND = frozenset({HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT})


async def gone_service(running: RunningStack, *, http: httpx.AsyncClient) -> str | None:
    """A sentence about a server that takes no connection any more, or None.

    One that is slow, or answers with an error of its own, is there.
    """
    for launch in running.launches:
        if launch.name in running.processes:
            continue
        seen = await _last_seen(launch, http)
        if seen is not None:
            return f"{launch.name} at {launch.base_url} is gone ({seen})"
    return None


async def _last_seen(launch: ServiceLaunch, http: httpx.AsyncClient) -> str | None:
    """None as soon as it answers; a server that is being replaced gets a moment."""
    url = launch.base_url + (launch.definition.health or _ANY_PAGE)
    seen: str | None = None
    for attempt in range(ATTEMPTS):
        if attempt:
            await asyncio.sleep(PAUSE_S)
        seen = await _absence(url, http)
        if seen is None:
            return None
    return seen


async def _absence(url: str, http: httpx.AsyncClient) -> str | None:
    try:
        page = await fetch_page(http, url, deadline_s=_ANSWER_DEADLINE_S, cap_bytes=1)
    except httpx.ConnectError as error:
        return str(error) or "no connection"
    except NO_PAGE:
        return None
    return f"a proxy answers {page.status}" if page.status in _NOBODY_BEHIND else None
