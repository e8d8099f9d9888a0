"""The router: one address before a prefill and a decode server, as SGLang's gateway is.

It gives every request a room, sends it to both servers and passes on what decode answers, byte for
byte. It knows no model and reads no answer.
"""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from runner.testbed.relay import CHAT_PATH, Relay, Worker, unreachable
from runner.testbed.router_metrics import RouterMetrics, labelled_exposition
from runner.testbed.server import METRICS_TYPE, no_such_page

_ROOM_BITS = 63
_NO_LIMIT = aiohttp.ClientTimeout(total=None, connect=10)
_PAGE_DEADLINE_S = 10.0
_COMMAND_LIMIT = aiohttp.ClientTimeout(total=120)
_PAGE_LIMIT = aiohttp.ClientTimeout(total=_PAGE_DEADLINE_S)


@asynccontextmanager
async def running_router(workers: tuple[Worker, Worker], model_name: str) -> AsyncIterator[ASGIApp]:
    """The app, with its connections to the prefill and the decode worker, in this order."""
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, timeout=_NO_LIMIT) as session:
        router = Router(workers, session)
        await router.learn_bootstrap()
        handlers = {HTTPException: no_such_page, TimeoutError: _late}
        yield Starlette(routes=router.routes(), exception_handlers=handlers)


def _late(request: Request, _: Exception) -> Response:
    text = f"a worker had no answer to {request.url.path} within {_PAGE_DEADLINE_S:g} s"
    return PlainTextResponse(text, status_code=504)


class Router:
    def __init__(self, workers: tuple[Worker, Worker], session: aiohttp.ClientSession) -> None:
        self._prefill, self._decode = workers
        self._session = session
        self._metrics = RouterMetrics([worker.url for worker in workers])
        self._rooms = random.SystemRandom()
        self._bootstrap: dict[str, Any] = {}

    async def learn_bootstrap(self) -> None:
        """Where decode finds prefill: its bootstrap port, on the host that we reach it at."""
        info = await self._get_json(self._prefill, "/server_info")
        host = self._prefill.url.removeprefix("http://").rsplit(":", 1)[0]
        port = info["disaggregation_bootstrap_port"]
        self._bootstrap = {"bootstrap_host": host, "bootstrap_port": port}

    def routes(self) -> list[Route]:
        return [
            Route(CHAT_PATH, self._chat, methods=["POST"]),
            Route("/v1/models", self._pass_to_decode),
            Route("/v1/models/{name:path}", self._pass_to_decode),
            Route("/model_info", self._pass_to_decode),
            Route("/get_model_info", self._pass_to_decode),
            Route("/v1/loads", self._loads),
            Route("/health", self._health),
            Route("/health_generate", self._readiness),
            Route("/readiness", self._readiness),
            Route("/server_info", self._server_info),
            Route("/get_server_info", self._server_info),
            Route("/flush_cache", self._to_both, methods=["GET", "POST"]),
            Route("/abort_request", self._to_both, methods=["POST"]),
            Route("/metrics", self._own_metrics),
            Route("/engine_metrics", self._engine_metrics),
        ]

    # -- chat --------------------------------------------------------------------------------

    async def _chat(self, request: Request) -> Response:
        body = await request.body()
        try:
            data = json.loads(body)
        except ValueError:
            data = None
        if not isinstance(data, dict):
            return await self._pass_on(self._decode, "POST", CHAT_PATH, body)
        data.setdefault("rid", uuid.uuid4().hex)
        data |= {**self._bootstrap, "bootstrap_room": self._rooms.getrandbits(_ROOM_BITS) or 1}
        return Relay(self._session, (self._prefill, self._decode), data, self._metrics)

    # -- the rest ----------------------------------------------------------------------------

    async def _health(self, _: Request) -> Response:
        """That the router lives; whether its workers do is what `/readiness` asks."""
        return PlainTextResponse("")

    async def _readiness(self, _: Request) -> Response:
        healthy = [await self._is_healthy(worker) for worker in (self._prefill, self._decode)]
        return PlainTextResponse("", status_code=200 if all(healthy) else 503)

    async def _server_info(self, _: Request) -> Response:
        prefill = await self._get_json(self._prefill, "/server_info")
        decode = await self._get_json(self._decode, "/server_info")
        states = [*prefill["internal_states"], *decode["internal_states"]]
        return JSONResponse({"internal_states": states, "prefill": [prefill], "decode": [decode]})

    async def _loads(self, _: Request) -> Response:
        reports = [
            await self._get_json(worker, "/v1/loads") for worker in (self._prefill, self._decode)
        ]
        loads = [load for report in reports for load in report["loads"]]
        return JSONResponse({**reports[0], "loads": loads})

    async def _to_both(self, request: Request) -> Response:
        """The worse of the two answers."""
        path = f"{request.url.path}?{request.url.query}".rstrip("?")
        body = await request.body()
        answers = [
            await self._pass_on(worker, request.method, path, body)
            for worker in (self._prefill, self._decode)
        ]
        return max(answers, key=lambda answer: answer.status_code)

    async def _pass_to_decode(self, request: Request) -> Response:
        return await self._pass_on(self._decode, request.method, request.url.path, b"")

    async def _own_metrics(self, _: Request) -> Response:
        for worker in (self._prefill, self._decode):
            self._metrics.set_health(worker.url, await self._is_healthy(worker))
        return Response(self._metrics.exposition(), headers={"content-type": METRICS_TYPE})

    async def _engine_metrics(self, _: Request) -> Response:
        """Both workers' metrics on one page, told apart by `worker_addr`."""
        pages = {}
        for worker in (self._prefill, self._decode):
            async with self._session.get(f"{worker.url}/metrics", timeout=_PAGE_LIMIT) as answer:
                pages[worker.url] = await answer.text()
        return Response(labelled_exposition(pages), headers={"content-type": METRICS_TYPE})

    async def _is_healthy(self, worker: Worker) -> bool:
        try:
            async with self._session.get(f"{worker.url}/health", timeout=_PAGE_LIMIT) as answer:
                return answer.status == 200
        except (aiohttp.ClientError, TimeoutError):
            return False

    async def _get_json(self, worker: Worker, path: str) -> dict[str, Any]:
        async with self._session.get(f"{worker.url}{path}", timeout=_PAGE_LIMIT) as answer:
            found: dict[str, Any] = await answer.json()
            return found

    async def _pass_on(self, worker: Worker, method: str, path: str, body: bytes) -> Response:
        try:
            async with self._session.request(
                method, f"{worker.url}{path}", data=body, timeout=_COMMAND_LIMIT
            ) as answer:
                content = await answer.read()
                return Response(content, answer.status, media_type=answer.content_type)
        except aiohttp.ClientError as error:
            return JSONResponse(unreachable(worker, error), status_code=503)
