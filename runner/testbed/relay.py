"""One chat request on its way through the router: to both workers, and decode's answer back."""

from __future__ import annotations

import asyncio
import json
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

import aiohttp
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from runner.testbed.chat_response import DONE_EVENT, error_body, sse_event
from runner.testbed.router_metrics import RouterMetrics
from runner.testbed.sse_response import outlives_client

CHAT_PATH = "/v1/chat/completions"
_Answering = AbstractAsyncContextManager[aiohttp.ClientResponse]


@dataclass(frozen=True, slots=True)
class Worker:
    """A server behind the router; `role` is prefill or decode."""

    role: str
    url: str


class Relay(Response):
    """A client that leaves ends the request at both; so does a worker that cannot be reached."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        workers: tuple[Worker, Worker],
        body: dict[str, Any],
        metrics: RouterMetrics,
    ) -> None:
        self._session = session
        self._prefill, self._decode = workers
        self._body = json.dumps(body).encode()
        self._metrics = metrics
        self._has_begun = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._metrics.begin(self._prefill.url, self._decode.url)
        try:
            await outlives_client(self._relay(scope, receive, send), receive)
        finally:
            self._metrics.end(self._prefill.url, self._decode.url)

    async def _relay(self, scope: Scope, receive: Receive, send: Send) -> None:
        prefilling = asyncio.create_task(self._prefill_alone())
        decoding = asyncio.create_task(self._pass_decode_on(send))
        try:
            await asyncio.wait({prefilling, decoding}, return_when=asyncio.FIRST_EXCEPTION)
            for task, worker in ((prefilling, self._prefill), (decoding, self._decode)):
                error = task.exception() if task.done() else None
                if isinstance(error, aiohttp.ClientError):
                    await self._break_off(worker, error, scope, receive, send)
                    return
            await decoding
        finally:
            for task in (prefilling, decoding):
                task.cancel()
            await asyncio.gather(prefilling, decoding, return_exceptions=True)

    async def _prefill_alone(self) -> None:
        """Its answer is one token that decode tells as well."""
        async with self._post(self._prefill) as answer:
            await answer.read()

    async def _pass_decode_on(self, send: Send) -> None:
        async with self._post(self._decode) as answer:
            kept = {"content-type", "cache-control"}
            headers = [(k.lower(), v) for k, v in answer.raw_headers if k.lower().decode() in kept]
            self._has_begun = True
            await send({"type": "http.response.start", "status": answer.status, "headers": headers})
            async for chunk in answer.content.iter_any():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    def _post(self, worker: Worker) -> _Answering:
        headers = {"content-type": "application/json"}
        return self._session.post(f"{worker.url}{CHAT_PATH}", data=self._body, headers=headers)

    async def _break_off(
        self, worker: Worker, error: Exception, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """As an error answer, or inside the stream that has begun."""
        body = unreachable(worker, error)
        if not self._has_begun:
            await JSONResponse(body, status_code=503)(scope, receive, send)
            return
        await send(
            {"type": "http.response.body", "body": sse_event(body) + DONE_EVENT, "more_body": False}
        )


def unreachable(worker: Worker, error: Exception) -> dict[str, Any]:
    return error_body(f"The {worker.role} server at {worker.url} failed: {error}", code=503)
