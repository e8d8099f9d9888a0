"""Waits until a service really generates; /health alone proves nothing."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import NamedTuple

import httpx

from db.clock import Clock
from runner.control.capped_page import NO_PAGE, fetch_page, said_by
from runner.errors import StackStartError

POLL_S = 0.2
PROBE_DEADLINE_S = 30.0
MISSING_FOR_S = 10.0  # a front end opens its page for chats when its workers have come
_PROBE_TEXT = "Say hello."


@dataclass(frozen=True, slots=True)
class ReadinessProbe:
    """What to ask of one service, and how long to go on asking."""

    service: str
    health_url: str | None
    chat_url: str | None
    model: str
    ready_within_s: float


class _Seen(NamedTuple):
    said: str
    is_ready: bool = False
    is_missing: bool = False  # the page for chats is not there


async def wait_until_ready(
    probe: ReadinessProbe,
    *,
    http: httpx.AsyncClient,
    clock: Clock,
    exit_status: Callable[[], int | None],
) -> None:
    """Returns once the health page and, where given, a real generation have answered.

    Raises StackStartError when the process ends or the time is over, with the last answer seen, and
    what refused the chats before it; and sooner where a server that is up goes on refusing them.
    """
    deadline_s = clock.monotonic_s() + probe.ready_within_s
    seen = _Seen("no answer yet")
    missing_since_s: float | None = None
    refused = ""
    while clock.monotonic_s() < deadline_s:
        status = exit_status()
        if status is not None:
            raise StackStartError(f"{probe.service} ended with status {status} while starting")
        seen = await _ask(probe, http, remaining_s=deadline_s - clock.monotonic_s())
        if seen.is_ready:
            return
        now_s = clock.monotonic_s()
        if not seen.is_missing:
            missing_since_s = None
        elif missing_since_s is None:
            missing_since_s, refused = now_s, f"; before that: it {seen.said}"
        elif now_s - missing_since_s >= MISSING_FOR_S:
            raise StackStartError(
                f"{probe.service} {seen.said}; check the server's address and the model's name"
            )
        await asyncio.sleep(POLL_S)
    raise StackStartError(
        f"{probe.service} was not ready within {probe.ready_within_s:g} s (last: {seen.said}"
        f"{'' if seen.is_missing else refused}); "
        "raise ready_within_s in the stack file if it needs longer"
    )


_READY = _Seen("ready", is_ready=True)
_NOT_THERE = frozenset(
    {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED}
)


async def _ask(probe: ReadinessProbe, http: httpx.AsyncClient, remaining_s: float) -> _Seen:
    timeout_s = max(0.5, min(PROBE_DEADLINE_S, remaining_s))
    try:
        if probe.health_url is not None:
            health = await fetch_page(http, probe.health_url, deadline_s=timeout_s)
            if health.status != HTTPStatus.OK:
                return _Seen(f"{probe.health_url} answered {health.status}")
        if probe.chat_url is not None:
            return await _generate(probe, http, probe.chat_url, timeout_s)
    except NO_PAGE as error:
        return _Seen(said_by(error, deadline_s=timeout_s))
    return _READY


async def _generate(
    probe: ReadinessProbe, http: httpx.AsyncClient, chat_url: str, timeout_s: float
) -> _Seen:
    body = {
        "model": probe.model,
        "messages": [{"role": "user", "content": _PROBE_TEXT}],
        "max_tokens": 4,
    }
    answer = await fetch_page(http, chat_url, deadline_s=timeout_s, method="POST", json=body)
    if answer.status in _NOT_THERE:
        words = f": {answer.text[:200]}" if answer.text else ""
        said = f"knows no {chat_url} for {probe.model!r} (it answered {answer.status}{words})"
        return _Seen(said, is_missing=True)
    if answer.status != HTTPStatus.OK:
        return _Seen(f"a generation answered {answer.status}: {answer.text[:200]}")
    return _READY
