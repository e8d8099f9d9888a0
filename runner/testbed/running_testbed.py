"""Puts a whole testbed together and serves it until it is told to stop.

It owns what a process has one of (model, engine, engine thread, HTTP server) and their order.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
import traceback
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
import uvicorn
from starlette.types import ASGIApp

from runner.testbed import log_lines
from runner.testbed.answer_streams import AnswerStreams
from runner.testbed.chat_endpoint import ChatEndpoint, Stopwatch
from runner.testbed.chat_template import ChatTemplate
from runner.testbed.engine import Engine
from runner.testbed.engine_metrics import EngineMetrics, make_registry
from runner.testbed.engine_thread import EngineThread
from runner.testbed.generation import GenerationRequest
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.model import FusedModel, load_model
from runner.testbed.server import build_app
from runner.testbed.server_info import server_info
from runner.testbed.tokenizer import Tokenizer
from runner.testbed.vocabulary import BOS, load_vocabulary

_GIB = 1024**3
_GRACE_S = 2
_BACKLOG = 1024


class RunningTestbed:
    """`crash` is what the engine died of, if it did; the server then ends."""

    def __init__(self, options: LaunchOptions, log: logging.Logger) -> None:
        born_s = time.monotonic()
        torch.set_num_threads(options.num_threads)
        self.crash: Exception | None = None
        self._options = options
        self._log = log
        self._registry = make_registry(options.served_model_name)
        model = load_model()
        _warm_up(model, options)
        metrics = EngineMetrics(self._registry, hicache=options.enable_hierarchical_cache)
        self.engine = Engine(
            model, options, metrics=metrics, clock=time.monotonic, log=self._log.info
        )
        self._log_allocations()
        self.engine.publish_gauges()
        self._startup_time_s = time.monotonic() - born_s
        self._server: uvicorn.Server | None = None

    async def serve(self, listener: socket.socket, *, on_ready: Callable[[], None]) -> None:
        """Answer on `listener` until `stop` or a signal."""
        streams = AnswerStreams(asyncio.get_running_loop())
        thread = EngineThread(
            self.engine, clock=time.monotonic, deliver=streams.deliver, on_crash=self._on_crash
        )
        config = uvicorn.Config(
            self._app(thread, streams),
            log_config=None,
            access_log=self._options.access_log,
            lifespan="off",
            backlog=_BACKLOG,
            timeout_graceful_shutdown=_GRACE_S,
        )
        self._server = uvicorn.Server(config)
        thread.start()
        listener.listen(_BACKLOG)  # from here on nobody is refused any more
        self._log.info(log_lines.ready())
        on_ready()
        try:
            await self._server.serve(sockets=[listener])
        finally:
            thread.stop()

    def stop(self) -> None:
        """May be called from any thread."""
        if self._server is not None:
            self._server.should_exit = True

    def _app(self, thread: EngineThread, streams: AnswerStreams) -> ASGIApp:
        vocabulary = load_vocabulary()
        chat = ChatEndpoint(
            self._options,
            vocabulary,
            ChatTemplate(Tokenizer(vocabulary)),
            engine=thread,
            streams=streams,
            registry=self._registry,
            stopwatch=Stopwatch(monotonic=time.monotonic, wall=time.time),
            new_id=lambda: uuid.uuid4().hex,
            log=self._log.info,
        )
        return build_app(
            self._options, chat=chat, engine=thread, registry=self._registry, info=self._info
        )

    def _info(self) -> dict[str, Any]:
        return server_info(self._options, self.engine, startup_time_s=self._startup_time_s)

    def _log_allocations(self) -> None:
        host = self.engine.prefill_side.host
        if host is not None:
            tokens = self._options.host_pages * 64
            gib = host.kv.numel() / _GIB
            self._log.info(log_lines.host_pool_allocated(tokens=tokens, gigabytes=gib))
            gib = host.index.numel() / _GIB
            self._log.info(log_lines.index_host_pool_allocated(gigabytes=gib))

    def _on_crash(self, error: Exception) -> None:
        self.crash = error
        lines = "".join(traceback.format_exception(error))
        self._log.info(f"Scheduler hit an exception: {lines}")
        self.stop()


def _warm_up(model: FusedModel, options: LaunchOptions) -> None:
    """Have the first, slow operations behind us, on an engine that is thrown away."""
    small = replace(
        options,
        pages=16,
        host_pages=1,
        context_length=128,
        max_running_requests=1,
        stall_transfer_after=None,
    )
    metrics = EngineMetrics(make_registry("warm-up"), hicache=options.enable_hierarchical_cache)
    engine = Engine(model, small, metrics=metrics, clock=lambda: 0.0, log=lambda _: None)
    engine.submit(GenerationRequest("warm-up", (BOS,) * 70, max_new_tokens=4))
    while not engine.is_idle:
        engine.step()
