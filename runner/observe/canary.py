"""Asks a server for one short answer, to tell a pause from a wedge; its health page cannot."""

import asyncio
from dataclasses import dataclass

import httpx

_TEXT = "Say hello."
_MAX_TOKENS = 4


@dataclass(frozen=True, slots=True)
class CanaryAnswer:
    """`answered`: an answer with status 200 came in time; `said` describes what came instead."""

    request_id: str
    answered: bool
    took_s: float
    said: str


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
    answered = False
    try:
        async with asyncio.timeout(deadline_s):
            answer = await http.post(
                chat_url, json=body, headers={"x-request-id": request_id}, timeout=None
            )
        answered = answer.status_code == 200
        said = f"it answered {answer.status_code}"
    except TimeoutError:
        said = f"a canary request had no answer within {deadline_s:g} s"
    except (httpx.HTTPError, OSError) as error:
        said = f"a canary request failed: {type(error).__name__} {error}".strip()
    return CanaryAnswer(request_id, answered, loop.time() - began_s, said)
