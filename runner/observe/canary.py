"""Asks a server for one short answer, to tell a pause from a wedge; its health page cannot."""

import asyncio
from dataclasses import dataclass
from http import HTTPStatus

import httpx

from runner.control.capped_page import NO_PAGE, fetch_page, said_by

_TEXT = "Say hello."
_MAX_TOKENS = 4


@dataclass(frozen=True, slots=True)
class CanaryAnswer:
    """`answered`: an answer with status 200 came in time; `said` describes what came instead.

    `reached` is false where nobody listened there: a server that has gone is no wedge.
    """

    request_id: str
    answered: bool
    took_s: float
    said: str
    reached: bool = True


async def ask_canary(
    chat_url: str,
    *,
    model: str,
    request_id: str,
    http: httpx.AsyncClient,
    deadline_s: float,
    names_requests: bool,
) -> CanaryAnswer:
    """Never raises but when cancelled. `names_requests`: the server takes the field `rid`."""
    body = {
        "model": model,
        "messages": [{"role": "user", "content": _TEXT}],
        "max_tokens": _MAX_TOKENS,
        **({"rid": request_id} if names_requests else {}),
    }
    loop = asyncio.get_running_loop()
    began_s = loop.time()
    answered, reached = False, True
    try:
        answer = await fetch_page(
            http,
            chat_url,
            deadline_s=deadline_s,
            method="POST",
            json=body,
            headers={"x-request-id": request_id},
        )
        answered = answer.status == HTTPStatus.OK
        said = f"a canary request was answered with {answer.status}"
    except NO_PAGE as error:
        reached = not isinstance(error, httpx.ConnectError)
        said = f"a canary request had {said_by(error, deadline_s=deadline_s)}"
    return CanaryAnswer(request_id, answered, loop.time() - began_s, said, reached)
