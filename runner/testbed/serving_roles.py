"""What one server process is: both sides in one, the prefill side, or the decode side.

A role ties an engine to the links it needs and says how requests reach it; HTTP is outside.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Protocol

from torch import Tensor

from runner.testbed.batch_reports import Instruments
from runner.testbed.chat_request import BadRequestError, Bootstrap
from runner.testbed.decode_engine import DecodeEngine
from runner.testbed.engine_thread import EngineThread, SteppedEngine
from runner.testbed.generation import GenerationRequest
from runner.testbed.host_pool import HostPool
from runner.testbed.index_keys import make_index_keys
from runner.testbed.kv_pool import PagePool
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.model import FusedModel
from runner.testbed.page_messages import PageMessage
from runner.testbed.prefill_engine import PrefillEngine
from runner.testbed.shared_memory import SharedBlock, open_shared
from runner.testbed.socket_link import (
    BootstrapServer,
    PoolOffer,
    PrefillConnections,
    SocketDecodePeer,
    SocketPeer,
)
from runner.testbed.unified_engine import UnifiedEngine


class ServingRole(Protocol):
    """`submit` comes from the event loop; `engine` runs in the thread that `attach` was given."""

    @property
    def engine(self) -> RoleEngine: ...

    @property
    def pool(self) -> PagePool: ...

    @property
    def host(self) -> HostPool | None: ...

    def attach(self, thread: EngineThread) -> None: ...

    async def submit(self, request: GenerationRequest, bootstrap: Bootstrap | None) -> None: ...

    def close(self) -> None: ...


class RoleEngine(SteppedEngine, Protocol):
    def abort(self, rid: str) -> bool: ...

    def flush_cache(self) -> bool: ...


class UnifiedRole:
    """Prefill and decode in one process, joined without a socket."""

    def __init__(self, model: FusedModel, options: LaunchOptions, instruments: Instruments) -> None:
        self.engine = UnifiedEngine(model, options, instruments)
        self.pool = self.engine.prefill.instance.pool
        self.host = self.engine.prefill.instance.host
        self._thread: EngineThread | None = None

    def attach(self, thread: EngineThread) -> None:
        self._thread = thread

    async def submit(self, request: GenerationRequest, bootstrap: Bootstrap | None) -> None:
        assert self._thread is not None
        self._thread.post(lambda: self.engine.submit(request))

    def close(self) -> None:
        """There is nothing to close."""


class PrefillRole:
    """Takes the same requests as decode, and decode's page numbers over its bootstrap port."""

    def __init__(
        self,
        model: FusedModel,
        options: LaunchOptions,
        instruments: Instruments,
        *,
        bootstrap: socket.socket,
    ) -> None:
        self.engine = PrefillEngine(model, options, instruments)
        self.pool = self.engine.instance.pool
        self.host = self.engine.instance.host
        self._model = model
        self._thread: EngineThread | None = None
        self._server = BootstrapServer(bootstrap, self, self._open_pool)

    def attach(self, thread: EngineThread) -> None:
        self._thread = thread
        self._server.start()

    async def submit(self, request: GenerationRequest, bootstrap: Bootstrap | None) -> None:
        _require(bootstrap)
        self._post(lambda: self.engine.submit(request))

    def close(self) -> None:
        self._server.close()

    def on_message(self, peer: SocketDecodePeer, message: PageMessage) -> None:
        self._post(lambda: self.engine.receive(peer, message))

    def on_lost(self, peer: SocketDecodePeer) -> None:
        self._post(lambda: self.engine.peer_lost(peer))

    def _open_pool(self, offer: PoolOffer) -> PagePool:
        """Raises OSError or KeyError when the offer does not fit."""
        return PagePool(
            offer.n_pages,
            self._model.config,
            make_index_keys(offer.index_k_dtype, 1),
            n_slots=offer.n_slots,
            allocate=lambda n_bytes: open_shared(offer.path, n_bytes),
        )

    def _post(self, command: Callable[[], object]) -> None:
        assert self._thread is not None
        self._thread.post(command)


class DecodeRole:
    """Its pool lies in memory that prefill instances write into."""

    host = None

    def __init__(self, model: FusedModel, options: LaunchOptions, instruments: Instruments) -> None:
        blocks: list[SharedBlock] = []

        def allocate(n_bytes: int) -> Tensor:
            blocks.append(SharedBlock(n_bytes))
            return blocks[0].tensor

        self.engine = DecodeEngine(model, options, instruments, allocate=allocate)
        self.pool = self.engine.instance.pool
        self._thread: EngineThread | None = None
        offer = PoolOffer(
            blocks[0].path, self.pool.n_pages, len(self.pool.owners), options.index_k_dtype
        )
        self._connections = PrefillConnections(
            offer, on_message=self._on_message, on_lost=self._on_lost
        )

    def attach(self, thread: EngineThread) -> None:
        self._thread = thread

    async def submit(self, request: GenerationRequest, bootstrap: Bootstrap | None) -> None:
        bootstrap = _require(bootstrap)
        try:
            peer = await asyncio.to_thread(self._connections.peer, bootstrap.host, bootstrap.port)
        except OSError as error:
            raise BadRequestError(
                f"No prefill instance answers at {bootstrap.host}:{bootstrap.port}: {error}.",
                "bootstrap_host",
            ) from error
        self._post(lambda: self.engine.submit(request, peer))

    def close(self) -> None:
        self._connections.close()

    def _on_message(self, message: PageMessage) -> None:
        self._post(lambda: self.engine.receive(message))

    def _on_lost(self, peer: SocketPeer) -> None:
        self._post(lambda: self.engine.prefill_lost(peer))

    def _post(self, command: Callable[[], object]) -> None:
        assert self._thread is not None
        self._thread.post(command)


def _require(bootstrap: Bootstrap | None) -> Bootstrap:
    if bootstrap is None:
        raise BadRequestError(
            "A disaggregated server needs bootstrap_host, bootstrap_port and bootstrap_room: "
            "send the request to the router.",
            "bootstrap_room",
        )
    return bootstrap
