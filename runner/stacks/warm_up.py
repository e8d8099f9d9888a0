"""A few requests that let a server compile and allocate before anything is measured."""

import asyncio

import httpx

from runner.control.capped_page import NO_PAGE, fetch_page
from runner.stacks.running_stack import RunningStack

REQUESTS = 4
DEADLINE_S = 60.0
_TEXT = "Say hello, and say who you are."


async def warm_up(running: RunningStack, *, http: httpx.AsyncClient) -> None:
    """Sends them at once and waits for all. What they answer, or whether, decides nothing."""
    url = running.chat_url
    async with asyncio.TaskGroup() as group:
        for _ in range(REQUESTS):
            group.create_task(_ask(url, running.model, http))


async def _ask(url: str, model: str, http: httpx.AsyncClient) -> None:
    body = {"model": model, "messages": [{"role": "user", "content": _TEXT}], "max_tokens": 16}
    try:
        await fetch_page(http, url, deadline_s=DEADLINE_S, method="POST", json=body)
    except NO_PAGE:
        # The readiness probe has proved that it generates; the sessions will show what else is
        # wrong, and are judged.
        return
