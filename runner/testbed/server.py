"""The HTTP surface of one server: SGLang's routes over one engine.

It wires parts together and knows no model. Everything it needs, clocks and ids too, comes in.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runner.testbed.chat_response import error_body
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.metrics import Registry

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_FLUSH_POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class EngineControl:
    """What the control routes ask of the engine; each answer comes between two steps."""

    is_healthy: Callable[[], Awaitable[bool]]
    is_idle: Callable[[], Awaitable[bool]]
    flush_cache: Callable[[], Awaitable[bool]]
    abort: Callable[[str, bool], None]


@dataclass(frozen=True, slots=True)
class ServerReports:
    """What the server says of itself, made anew for every request."""

    server_info: Callable[[], dict[str, Any]]
    model_info: Callable[[], dict[str, Any]]
    loads: Callable[[frozenset[str]], dict[str, Any]]


def build_app(
    options: LaunchOptions,
    *,
    chat: Callable[[Request], Awaitable[Response]],
    control: EngineControl,
    reports: ServerReports,
    registry: Registry,
) -> ASGIApp:
    async def health(_: Request) -> Response:
        # As with SGLang, a wedge among the transfers does not show here: the engine answers.
        return PlainTextResponse("", status_code=200 if await control.is_healthy() else 503)

    async def server_info(_: Request) -> Response:
        return JSONResponse(reports.server_info())

    async def model_info(_: Request) -> Response:
        return JSONResponse(reports.model_info())

    async def models(_: Request) -> Response:
        return JSONResponse(model_list(options))

    async def model(request: Request) -> Response:
        return _model(options, request.path_params["name"])

    async def loads(request: Request) -> Response:
        names = request.query_params.get("include", "all")
        return JSONResponse(reports.loads(frozenset(names.split(","))))

    async def flush_cache(request: Request) -> Response:
        return await _flush(control, request.query_params.get("timeout"))

    async def abort_request(request: Request) -> Response:
        return _abort(control, await request.body())

    async def metrics(_: Request) -> Response:
        return Response(registry.exposition(), headers={"content-type": METRICS_TYPE})

    app = Starlette(
        routes=[
            Route("/v1/chat/completions", chat, methods=["POST"]),
            Route("/v1/models", models),
            Route("/v1/models/{name:path}", model),
            Route("/v1/loads", loads),
            Route("/health", health),
            Route("/health_generate", health),
            Route("/server_info", server_info),
            Route("/get_server_info", server_info),
            Route("/model_info", model_info),
            Route("/get_model_info", model_info),
            Route("/flush_cache", flush_cache, methods=["GET", "POST"]),
            Route("/abort_request", abort_request, methods=["POST"]),
            Route("/metrics", metrics),
        ],
        exception_handlers={HTTPException: no_such_page},
    )
    return CountRequests(app, registry)


def model_list(options: LaunchOptions) -> dict[str, Any]:
    return {"object": "list", "data": [_model_card(options)]}


def no_such_page(_: Request, error: Exception) -> Response:
    """An unknown path or method, in the form that FastAPI, and so SGLang, gives it."""
    assert isinstance(error, HTTPException)
    return JSONResponse(
        {"detail": error.detail}, status_code=error.status_code, headers=error.headers
    )


def _model(options: LaunchOptions, name: str) -> Response:
    if name != options.served_model_name:
        message = f"The model {name!r} does not exist: {options.served_model_name!r} is served."
        return JSONResponse(error_body(message, code=404, param="model"), status_code=404)
    return JSONResponse(_model_card(options))


def _model_card(options: LaunchOptions) -> dict[str, Any]:
    return {
        "id": options.served_model_name,
        "object": "model",
        "created": 0,
        "owned_by": "testbed",
        "root": options.served_model_name,
        "parent": None,
        "max_model_len": options.context_length,
    }


async def _flush(control: EngineControl, patience: str | None) -> Response:
    """Wait up to `patience` seconds for the engine to become idle; refused unless it is."""
    try:
        remaining_s = float(patience or 0)
    except ValueError:
        return PlainTextResponse("timeout must be a number of seconds.\n", status_code=400)
    while remaining_s > 0 and not await control.is_idle():
        await asyncio.sleep(_FLUSH_POLL_S)
        remaining_s -= _FLUSH_POLL_S
    if await control.flush_cache():
        return PlainTextResponse(
            "Cache flushed.\nPlease check backend logs for more details. "
            "(When there are running or waiting requests, the operation will not be performed.)\n"
        )
    return PlainTextResponse("Cache not flushed: requests are pending.\n", status_code=400)


def _abort(control: EngineControl, body: bytes) -> Response:
    try:
        data = json.loads(body)
        rid, abort_all = str(data.get("rid", "")), data.get("abort_all", False) is True
    except (ValueError, AttributeError):
        return PlainTextResponse("The body must be a JSON object with rid.\n", status_code=400)
    control.abort(rid, abort_all)
    return PlainTextResponse("")


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
