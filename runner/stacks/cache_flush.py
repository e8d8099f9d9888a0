"""Empties the caches of a stack between runs, and says whether the servers accepted it."""

import asyncio
import json
from http import HTTPStatus
from typing import NamedTuple

import httpx

from db.clock import Clock
from runner.control.capped_page import NO_PAGE, fetch_page, said_by
from runner.stacks.running_stack import RunningStack

_ANSWER_DEADLINE_S = 5.0
_RETRY_S = 0.2
_NO_SUCH_PAGE = frozenset(
    {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED}
)
_NO_RIGHT = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


class FlushRefusal(NamedTuple):
    """`is_busy`: the server would, were it idle; else the stack file asks for what it cannot do."""

    sentence: str
    is_busy: bool


class FlushRequest(NamedTuple):
    """A POST without a body. `key` is that of the stack file which names its page."""

    service: str
    key: str
    url: str


class _Answer(NamedTuple):
    said: str
    status: int | None = None


async def flush_caches(
    running: RunningStack,
    *,
    http: httpx.AsyncClient,
    clock: Clock,
    deadline_s: float,
    clears_storage: bool = False,
) -> FlushRefusal | None:
    """None once every service that can flush has accepted; else the last refusal.

    With `clears_storage` the storage behind the host cache (L3) is emptied too, where there is one:
    what one arm wrote there another would else read.

    SGLang and vLLM refuse unless they are idle, so a refusal that stays while we send nothing means
    that requests are stuck inside.
    """
    ends_s = clock.monotonic_s() + deadline_s
    for service, key, url in flush_requests(running, clears_storage=clears_storage):
        while (refusal := await _refusal(url, http)) is not None:
            what = f"{service} refused to {_WORDS[key]}"
            advice = _advice(refusal.status, key)
            if advice is not None:
                return FlushRefusal(f"{what}: {url} answered {refusal.status}; {advice}", False)
            if clock.monotonic_s() >= ends_s:
                return FlushRefusal(f"{what} for {deadline_s:g} s: {refusal.said}", True)
            await asyncio.sleep(_RETRY_S)
    return None


def flush_requests(running: RunningStack, *, clears_storage: bool = False) -> list[FlushRequest]:
    """In their order; none of a service that names no such page."""
    found = []
    for launch in running.launches:
        asked = {"flush_cache": launch.url_of(launch.definition.flush_cache)}
        if clears_storage:
            asked["clear_storage"] = launch.url_of(launch.definition.clear_storage)
        found += [FlushRequest(launch.name, key, url) for key, url in asked.items() if url]
    return found


_WORDS = {"flush_cache": "flush its cache", "clear_storage": "clear its storage"}


def _advice(status: int | None, key: str) -> str | None:
    """What to do where waiting is of no use."""
    if status in _NO_SUCH_PAGE:
        of_vllm = " (vLLM has it only with VLLM_SERVER_DEV_MODE=1)" if key == "flush_cache" else ""
        return f"correct {key} in the stack file{of_vllm}"
    if status in _NO_RIGHT:
        return "name the variable with the key that may do it: admin_key_env in the stack file"
    return None


async def _refusal(url: str, http: httpx.AsyncClient) -> _Answer | None:
    try:
        answer = await fetch_page(http, url, deadline_s=_ANSWER_DEADLINE_S, method="POST")
    except NO_PAGE as error:
        return _Answer(said_by(error, deadline_s=_ANSWER_DEADLINE_S))
    if answer.status != HTTPStatus.OK or _says_no(answer.content):
        return _Answer(answer.text.strip()[:200] or f"status {answer.status}", answer.status)
    return None


def _says_no(content: bytes) -> bool:
    """vLLM answers 200 with `{"success": false}` while blocks are held."""
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and said.get("success") is False
