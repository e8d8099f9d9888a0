"""Puts one server together (model, engine, engine thread, HTTP) and serves until told to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
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
from runner.testbed.batch_reports import Instruments
from runner.testbed.chat_endpoint import ChatEndpoint, EngineDoor, Stopwatch
from runner.testbed.chat_template import ChatTemplate
from runner.testbed.engine_metrics import EngineMetrics, make_registry
from runner.testbed.engine_thread import EngineThread
from runner.testbed.generation import GenerationRequest
from runner.testbed.health_probe import HealthProbe
from runner.testbed.host_pool import HostPool
from runner.testbed.http_serving import BACKLOG, http_config
from runner.testbed.index_keys import PAGE_TOKENS
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.load_report import load_report
from runner.testbed.model import FusedModel, load_model
from runner.testbed.scheduler_faults import SchedulerFaults
from runner.testbed.server import EngineControl, ServerReports, build_app
from runner.testbed.server_info import ServerFacts, model_info, server_info
from runner.testbed.serving_roles import DecodeRole, PrefillRole, ServingRole, UnifiedRole
from runner.testbed.tokenizer import Tokenizer
from runner.testbed.unified_engine import UnifiedEngine
from runner.testbed.vocabulary import BOS, load_vocabulary
from runner.testbed.watchdog import StepPulse, WatchdogTimeouts, make_watchdogs

_GIB = 1024**3
_ENGINE_TYPES = {"null": "unified", "prefill": "prefill", "decode": "decode"}


class RunningServer:
    """`crash` is what the engine died of, if it did; the server then ends.

    `bootstrap` is the bound socket that decode instances connect to, where it is a prefill server.
    """

    def __init__(
        self,
        options: LaunchOptions,
        log: logging.Logger,
        *,
        bootstrap: socket.socket | None = None,
    ) -> None:
        born_s = time.monotonic()
        torch.set_num_threads(options.num_threads)
        self.crash: Exception | None = None
        self._options = options
        self._log = log
        self._registry = make_registry(
            options.served_model_name,
            hicache=options.enable_hierarchical_cache and options.disaggregation_mode != "decode",
            engine_type=_ENGINE_TYPES[options.disaggregation_mode],
        )
        model = load_model(device=options.device)
        _warm_up(model, options)
        instruments = Instruments(EngineMetrics(self._registry), time.monotonic, log.info)
        self.role = _make_role(model, options, instruments, bootstrap)
        _log_allocations(log, options, self.role.host)
        self.role.engine.publish_gauges()
        self._facts = ServerFacts(
            self.role.pool,
            self.role.host,
            weight_bytes=model.n_bytes,
            startup_time_s=time.monotonic() - born_s,
        )
        instruments.metrics.started(
            context_length=options.context_length,
            weight_bytes=model.n_bytes,
            pool_bytes=self.role.pool.n_bytes,
        )
        self._server: uvicorn.Server | None = None

    async def serve(self, listener: socket.socket, *, on_ready: Callable[[], None]) -> None:
        """Answer on `listener` until `stop` or a signal."""
        streams = AnswerStreams(asyncio.get_running_loop())
        thread = EngineThread(
            self.role.engine,
            clock=time.monotonic,
            deliver=streams.deliver,
            on_crash=self._on_crash,
            faults=SchedulerFaults(self._options, kill=kill_this_process),
        )
        self.role.attach(thread)
        stopped = threading.Event()
        self._start_watchdogs(thread.pulse, stopped)
        self._server = uvicorn.Server(
            http_config(self._app(thread, streams), access_log=self._options.access_log)
        )
        thread.start()
        listener.listen(BACKLOG)  # from here on nobody is refused any more
        self._log.info(log_lines.ready())
        on_ready()
        try:
            await self._server.serve(sockets=[listener])
        finally:
            stopped.set()
            self.role.close()
            thread.stop()

    def _start_watchdogs(self, pulse: StepPulse, stopped: threading.Event) -> None:
        timeouts = WatchdogTimeouts(
            self._options.watchdog_timeout, self._options.soft_watchdog_timeout
        )
        for dog in make_watchdogs(pulse, timeouts, log=self._log.info, kill=kill_this_process):
            arguments = (time.monotonic, stopped)
            threading.Thread(target=dog.run, args=arguments, daemon=True).start()

    def stop(self) -> None:
        """May be called from any thread."""
        if self._server is not None:
            self._server.should_exit = True

    def _app(self, thread: EngineThread, streams: AnswerStreams) -> ASGIApp:
        vocabulary = load_vocabulary()
        engine = self.role.engine
        chat = ChatEndpoint(
            self._options,
            vocabulary,
            ChatTemplate(Tokenizer(vocabulary)),
            door=EngineDoor(self.role.submit, lambda rid: thread.post(lambda: engine.abort(rid))),
            streams=streams,
            registry=self._registry,
            stopwatch=Stopwatch(monotonic=time.monotonic, wall=time.time),
            new_id=lambda: uuid.uuid4().hex,
            log=self._log.info,
        )
        reports = ServerReports(self._server_info, lambda: model_info(self._options), self._loads)
        return build_app(
            self._options,
            chat=chat.__call__,
            control=self._control(thread, streams),
            reports=reports,
            registry=self._registry,
        )

    def _control(self, thread: EngineThread, streams: AnswerStreams) -> EngineControl:
        engine = self.role.engine
        probe = HealthProbe(
            thread, self._options.health_check_timeout, log=self._log.info, wall=time.time
        )

        def abort(prefix: str, abort_all: bool) -> None:
            if not prefix and not abort_all:
                self._log.info(log_lines.empty_abort())
                return
            for rid in streams.open_rids():
                if abort_all or rid.startswith(prefix):
                    thread.post(lambda rid=rid: engine.abort(rid))  # type: ignore[misc]

        return EngineControl(
            is_healthy=probe.is_healthy,
            is_idle=lambda: asyncio.wrap_future(thread.ask(lambda: engine.is_idle)),
            flush_cache=lambda: asyncio.wrap_future(thread.ask(engine.flush_cache)),
            abort=abort,
        )

    def _server_info(self) -> dict[str, Any]:
        tokens_per_s = self._registry.value("gen_throughput")
        return server_info(self._options, replace(self._facts, last_gen_throughput=tokens_per_s))

    def _loads(self, include: frozenset[str]) -> dict[str, Any]:
        return load_report(self._options, self._registry, wall_s=time.time(), include=include)

    def _on_crash(self, error: Exception) -> None:
        self.crash = error
        trace = "".join(traceback.format_exception(error))
        self._log.info(log_lines.scheduler_exception(trace))
        self.stop()


def kill_this_process() -> None:
    """At once, as a kernel or an operator would."""
    os.kill(os.getpid(), signal.SIGKILL)


def has_cuda() -> bool:
    return torch.cuda.is_available()


def _make_role(
    model: FusedModel,
    options: LaunchOptions,
    instruments: Instruments,
    bootstrap: socket.socket | None,
) -> ServingRole:
    if options.disaggregation_mode == "decode":
        return DecodeRole(model, options, instruments)
    if options.disaggregation_mode == "prefill":
        assert bootstrap is not None
        return PrefillRole(model, options, instruments, bootstrap=bootstrap)
    return UnifiedRole(model, options, instruments)


def _log_allocations(log: logging.Logger, options: LaunchOptions, host: HostPool | None) -> None:
    if options.disaggregation_mode == "decode":
        return
    log.info(log_lines.tree_cache_initialized(hicache=host is not None))
    if host is not None:
        tokens = options.host_pages * PAGE_TOKENS
        gib = host.kv.numel() / _GIB
        log.info(log_lines.host_pool_allocated(tokens=tokens, gigabytes=gib))
        log.info(log_lines.index_host_pool_allocated(gigabytes=host.index.numel() / _GIB))


def _warm_up(model: FusedModel, options: LaunchOptions) -> None:
    """Have the first, slow operations behind us, on an engine that is thrown away."""
    small = LaunchOptions(
        index_k_dtype=options.index_k_dtype,
        index_topk=options.index_topk,
        pages=16,
        context_length=128,
        max_running_requests=1,
    )
    metrics = EngineMetrics(make_registry("warm-up", hicache=False))
    engine = UnifiedEngine(model, small, Instruments(metrics, lambda: 0.0, lambda _: None))
    engine.submit(GenerationRequest("warm-up", (BOS,) * 70, max_new_tokens=4))
    while not engine.is_idle:
        engine.step()
