"""Page messages between processes: one local socket per pair, one line of JSON per message.

Decode connects to prefill's bootstrap port and says where its pool's memory is; prefill writes into
that memory and speaks over the socket. It knows connections, not what the messages mean.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import BinaryIO, Protocol

from runner.testbed.kv_pool import PagePool
from runner.testbed.page_messages import PageMessage, decode_message, encode_message

_CONNECT_TIMEOUT_S = 5.0
_OFFER_DEADLINE_S = 30.0


@dataclass(frozen=True, slots=True)
class PoolOffer:
    """What decode says first: the memory of its pool, and how it is laid out."""

    path: str
    n_pages: int
    n_slots: int
    index_k_dtype: str


class SocketPeer:
    """The other end of one connection. What cannot be sent any more is dropped."""

    def __init__(self, connection: socket.socket, address: str) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self.address = address
        self.is_lost = False

    def send(self, message: PageMessage) -> None:
        try:
            with self._lock:
                self._connection.sendall(encode_message(message))
        except OSError:
            self.is_lost = True  # the reading side notices the same and tells

    def close(self) -> None:
        """Ends the reading side too."""
        _end(self._connection)


class SocketDecodePeer(SocketPeer):
    """A decode instance in another process."""

    def __init__(self, connection: socket.socket, address: str, pool: PagePool) -> None:
        super().__init__(connection, address)
        self.pool = pool


class PrefillListener(Protocol):
    """What the bootstrap server tells the prefill side; called in threads of the server."""

    def on_message(self, peer: SocketDecodePeer, message: PageMessage) -> None: ...

    def on_lost(self, peer: SocketDecodePeer) -> None: ...


class BootstrapServer:
    """Accepts decode instances on a bound `listener`; `open_pool` maps the memory they offer."""

    def __init__(
        self,
        listener: socket.socket,
        prefill: PrefillListener,
        open_pool: Callable[[PoolOffer], PagePool],
    ) -> None:
        self._listener = listener
        self._prefill = prefill
        self._open_pool = open_pool
        self._peers: list[SocketDecodePeer] = []

    def start(self) -> None:
        self._listener.listen()
        threading.Thread(target=self._accept, name="bootstrap", daemon=True).start()

    def close(self) -> None:
        _end(self._listener)
        for peer in self._peers:
            peer.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, (host, port, *_) = self._listener.accept()
            except OSError:
                return  # closed
            arguments = (connection, f"{host}:{port}")
            threading.Thread(target=self._serve, args=arguments, daemon=True).start()

    def _serve(self, connection: socket.socket, address: str) -> None:
        with connection, connection.makefile("rb") as lines:
            try:
                connection.settimeout(_OFFER_DEADLINE_S)
                offer = PoolOffer(**json.loads(lines.readline()))
                connection.settimeout(None)  # pages come whenever there are any
                peer = SocketDecodePeer(connection, address, self._open_pool(offer))
            except (ValueError, TypeError, OSError):
                return  # not a decode instance of ours
            self._peers.append(peer)
            _read(lines, lambda message: self._prefill.on_message(peer, message))
            self._prefill.on_lost(peer)


class PrefillConnections:
    """Decode's connections, one per prefill instance, made when first needed.

    `on_message` and `on_lost` are called in the connection's own thread.
    """

    def __init__(
        self,
        offer: PoolOffer,
        *,
        on_message: Callable[[PageMessage], None],
        on_lost: Callable[[SocketPeer], None],
    ) -> None:
        self._offer = offer
        self._on_message = on_message
        self._on_lost = on_lost
        self._peers: dict[tuple[str, int], SocketPeer] = {}
        self._lock = threading.Lock()

    def peer(self, host: str, port: int) -> SocketPeer:
        """The prefill instance there. Raises OSError when it does not answer."""
        with self._lock:
            known = self._peers.get((host, port))
            if known is not None and not known.is_lost:
                return known
            connection = socket.create_connection((host, port), timeout=_CONNECT_TIMEOUT_S)
            connection.settimeout(None)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sendall(json.dumps(asdict(self._offer)).encode() + b"\n")
            peer = self._peers[host, port] = SocketPeer(connection, f"{host}:{port}")
            threading.Thread(target=self._listen, args=(connection, peer), daemon=True).start()
            return peer

    def close(self) -> None:
        for peer in self._peers.values():
            peer.close()

    def _listen(self, connection: socket.socket, peer: SocketPeer) -> None:
        with connection, connection.makefile("rb") as lines:
            _read(lines, self._on_message)
        peer.is_lost = True
        self._on_lost(peer)


def _read(lines: BinaryIO, take: Callable[[PageMessage], None]) -> None:
    """Every message until the connection ends, in whatever way."""
    try:
        for line in lines:
            take(decode_message(line))
    except (OSError, ValueError, KeyError, TypeError):
        return


def _end(connection: socket.socket) -> None:
    """Close it, and wake the thread that waits for it."""
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
