"""Waits until a service really generates; /health alone proves nothing."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

import httpx

from db.clock import Clock
from runner.control.capped_page import NO_PAGE, fetch_page, said_by
from runner.errors import StackStartError

POLL_S = 0.2
PROBE_DEADLINE_S = 30.0
_PROBE_TEXT = "Say hello."


@dataclass(frozen=True, slots=True)
class ReadinessProbe:
    """What to ask of one service, and how long to go on asking."""

    service: str
    health_url: str | None
    chat_url: str | None
    model: str
    ready_within_s: float


async def wait_until_ready(
    probe: ReadinessProbe,
    *,
    http: httpx.AsyncClient,
    clock: Clock,
    exit_status: Callable[[], int | None],
) -> None:
    """Returns once the health page and, where given, a real generation have answered.

    Raises StackStartError when the process ends or the time is over, with the last answer seen.
    """
    deadline_s = clock.monotonic_s() + probe.ready_within_s
    seen = "no answer yet"
    while clock.monotonic_s() < deadline_s:
        status = exit_status()
        if status is not None:
            raise StackStartError(f"{probe.service} ended with status {status} while starting")
        seen = await _ask(probe, http, remaining_s=deadline_s - clock.monotonic_s())
        if seen == _READY:
            return
        await asyncio.sleep(POLL_S)
    raise StackStartError(
        f"{probe.service} was not ready within {probe.ready_within_s:g} s (last: {seen}); "
        "raise ready_within_s in the stack file if it needs longer"
    )


_READY = "ready"
_NEVER_READY = frozenset(
    {HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED}
)


async def _ask(probe: ReadinessProbe, http: httpx.AsyncClient, remaining_s: float) -> str:
    timeout_s = max(0.5, min(PROBE_DEADLINE_S, remaining_s))
    try:
        if probe.health_url is not None:
            health = await fetch_page(http, probe.health_url, deadline_s=timeout_s)
            if health.status != HTTPStatus.OK:
                return f"{probe.health_url} answered {health.status}"
        if probe.chat_url is not None:
            return await _generate(probe, http, probe.chat_url, timeout_s)
    except NO_PAGE as error:
        return said_by(error, deadline_s=timeout_s)
    return _READY


async def _generate(
    probe: ReadinessProbe, http: httpx.AsyncClient, chat_url: str, timeout_s: float
) -> str:
    body = {
        "model": probe.model,
        "messages": [{"role": "user", "content": _PROBE_TEXT}],
        "max_tokens": 4,
    }
    answer = await fetch_page(http, chat_url, deadline_s=timeout_s, method="POST", json=body)
    if answer.status in _NEVER_READY:
        raise StackStartError(
            f"{probe.service} knows no {chat_url} (it answered {answer.status}); "
            "check the server's address"
        )
    if answer.status != HTTPStatus.OK:
        return f"a generation answered {answer.status}: {answer.text[:200]}"
    return _READY
