"""Empties the caches of a stack between runs, and says whether the servers accepted it."""

import asyncio

import httpx

from db.clock import Clock
from runner.stacks.running_stack import RunningStack

_ANSWER_DEADLINE_S = 5.0
_RETRY_S = 0.2


async def flush_caches(
    running: RunningStack,
    *,
    http: httpx.AsyncClient,
    clock: Clock,
    deadline_s: float,
) -> str | None:
    """None once every service that can flush has accepted; else the last refusal in one sentence.

    SGLang refuses unless it is fully idle, so a refusal that stays while we send nothing means that
    requests are stuck inside.
    """
    ends_s = clock.monotonic_s() + deadline_s
    for launch in running.launches:
        url = launch.url_of(launch.definition.flush_cache)
        if url is None:
            continue
        while (refusal := await _refusal(url, http)) is not None:
            if clock.monotonic_s() >= ends_s:
                return f"{launch.name} refused to flush its cache for {deadline_s:g} s: {refusal}"
            await asyncio.sleep(_RETRY_S)
    return None


async def _refusal(url: str, http: httpx.AsyncClient) -> str | None:
    try:
        answer = await http.post(url, timeout=_ANSWER_DEADLINE_S)
    except httpx.HTTPError as error:
        return f"{type(error).__name__} {error}".strip()
    return None if answer.status_code == 200 else answer.text.strip()[:200]
