"""The HTTP surface: SGLang's routes over one engine.

It wires parts together and knows no model. Everything it needs, clocks and ids too, comes in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runner.testbed.chat_endpoint import ChatEndpoint
from runner.testbed.engine_thread import EngineThread
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.metrics import Registry

_METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def build_app(
    options: LaunchOptions,
    *,
    chat: ChatEndpoint,
    engine: EngineThread,
    registry: Registry,
    info: Callable[[], dict[str, Any]],
) -> ASGIApp:
    """`info` is asked anew for every `/server_info`."""

    async def health(_: Request) -> Response:
        # As with SGLang, a wedge among the transfers does not show here: the engine is alive.
        return PlainTextResponse("", status_code=200 if engine.is_alive else 503)

    async def server_info(_: Request) -> Response:
        return JSONResponse(info())

    async def models(_: Request) -> Response:
        model = {"id": options.served_model_name, "object": "model", "owned_by": "testbed"}
        model |= {"max_model_len": options.context_length}  # type: ignore[dict-item]
        return JSONResponse({"object": "list", "data": [model]})

    async def flush_cache(_: Request) -> Response:
        if await asyncio.wrap_future(engine.flush_cache()):
            return PlainTextResponse("Cache flushed.\n")
        return PlainTextResponse("Cache not flushed: requests are pending.\n", status_code=400)

    async def metrics(_: Request) -> Response:
        return Response(registry.exposition(), headers={"content-type": _METRICS_TYPE})

    app = Starlette(
        routes=[
            Route("/v1/chat/completions", chat.__call__, methods=["POST"]),
            Route("/v1/models", models),
            Route("/health", health),
            Route("/health_generate", health),
            Route("/server_info", server_info),
            Route("/get_server_info", server_info),
            Route("/flush_cache", flush_cache, methods=["GET", "POST"]),
            Route("/metrics", metrics),
        ]
    )
    return CountRequests(app, registry)


class CountRequests:
    """Keeps SGLang's three HTTP metrics, by endpoint and method."""

    def __init__(self, app: ASGIApp, registry: Registry) -> None:
        self._app = app
        self._registry = registry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        labels = {"endpoint": str(scope["path"]), "method": str(scope["method"])}

        async def counting_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                status = str(message["status"])
                self._registry.add("http_responses_total", 1, status_code=status, **labels)
            await send(message)

        self._registry.add("http_requests_total", 1, **labels)
        self._registry.add("http_requests_active", 1, **labels)
        try:
            await self._app(scope, receive, counting_send)
        finally:
            self._registry.add("http_requests_active", -1, **labels)
