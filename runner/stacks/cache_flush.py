"""Empties the caches of a stack between runs, and says whether the servers accepted it."""

import asyncio
import json
from http import HTTPStatus

import httpx

from db.clock import Clock
from runner.control.capped_page import NO_PAGE, fetch_page, said_by
from runner.stacks.running_stack import RunningStack

_ANSWER_DEADLINE_S = 5.0
_RETRY_S = 0.2


async def flush_caches(
    running: RunningStack,
    *,
    http: httpx.AsyncClient,
    clock: Clock,
    deadline_s: float,
    clears_storage: bool = False,
) -> str | None:
    """None once every service that can flush has accepted; else the last refusal in one sentence.

    With `clears_storage` the storage behind the host cache (L3) is emptied too, where there is one:
    what one arm wrote there another would else read.

    SGLang and vLLM refuse unless they are idle, so a refusal that stays while we send nothing means
    that requests are stuck inside.
    """
    ends_s = clock.monotonic_s() + deadline_s
    for launch in running.launches:
        definition = launch.definition
        asked = {"flush its cache": launch.url_of(definition.flush_cache)}
        if clears_storage:
            asked["clear its storage"] = launch.url_of(definition.clear_storage)
        for what, url in asked.items():
            while url is not None and (refusal := await _refusal(url, http)) is not None:
                if clock.monotonic_s() >= ends_s:
                    return f"{launch.name} refused to {what} for {deadline_s:g} s: {refusal}"
                await asyncio.sleep(_RETRY_S)
    return None


async def _refusal(url: str, http: httpx.AsyncClient) -> str | None:
    try:
        answer = await fetch_page(http, url, deadline_s=_ANSWER_DEADLINE_S, method="POST")
    except NO_PAGE as error:
        return said_by(error, deadline_s=_ANSWER_DEADLINE_S)
    if answer.status != HTTPStatus.OK or _says_no(answer.content):
        return answer.text.strip()[:200] or f"status {answer.status}"
    return None


def _says_no(content: bytes) -> bool:
    """vLLM answers 200 with `{"success": false}` while blocks are held."""
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and said.get("success") is False
