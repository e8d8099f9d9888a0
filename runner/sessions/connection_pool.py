"""Opens connections and keeps those that may be used again, the one put back last first.

It knows hosts and failures to connect, and nothing of requests. Failures are httpx's.
"""

import asyncio
import errno
import socket
import ssl
from collections import defaultdict
from functools import partial
from typing import Final, NamedTuple

import httpx

from runner.errors import ClientExhaustedError
from runner.sessions.http_connection import HttpConnection
from runner.sessions.parse_sweep import ParseSweep

_OUR_ERRNOS: Final = frozenset(
    (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EADDRNOTAVAIL)
)
_PROBE_AFTER_S: Final = 30  # of silence, whether the other machine is still there
_PROBE_EVERY_S: Final = 15
_PROBES: Final = 4


class Origin(NamedTuple):
    """Where a request goes. `host` is as a resolver takes it: no brackets around an address."""

    scheme: str
    host: str
    port: int


class ConnectionPool:
    """Without a limit: how many requests are open at once is their sender's to say.

    `keepalive_s` must be below the server's own, else it closes a connection as we write on it.
    Without `tls`, httpx's own context decides whom to trust; it is made when it is first needed.
    """

    def __init__(self, *, keepalive_s: float, tls: ssl.SSLContext | None = None) -> None:
        self._keepalive_s = keepalive_s
        self._tls = tls
        self._idle: defaultdict[Origin, list[HttpConnection]] = defaultdict(list)
        self._open: set[HttpConnection] = set()
        self._sweep = ParseSweep()

    async def opened(self, origin: Origin) -> HttpConnection:
        """A new connection.

        Raises:
            httpx.ConnectError: the host is unknown, refuses, or shows no certificate we trust.
            ClientExhaustedError: this machine has no socket left.
        """
        connection = await self._connect(origin)
        self._open.add(connection)
        return connection

    def kept(self, origin: Origin) -> HttpConnection | None:
        """The one put back last that is still good; None where one must be opened."""
        now_s = asyncio.get_running_loop().time()
        idle = self._idle[origin]
        while idle:
            kept = idle.pop()
            if now_s - kept.idle_since_s <= self._keepalive_s and not kept.has_news:
                return kept
            self.discard(kept)
        return None

    def put_back(self, origin: Origin, connection: HttpConnection) -> None:
        """For another request where it is fit for one, else it is closed."""
        if not connection.is_reusable:
            self.discard(connection)
            return
        connection.idle_since_s = asyncio.get_running_loop().time()
        self._idle[origin].append(connection)
        self._drop_old(origin)

    def discard(self, connection: HttpConnection) -> None:
        connection.close()
        self._open.discard(connection)

    def close(self) -> None:
        for connection in self._open:
            connection.close()
        self._open.clear()
        self._idle.clear()

    def _drop_old(self, origin: Origin) -> None:
        """The oldest lie first; two a time, so that a pool shrinks after a burst."""
        idle = self._idle[origin]
        for _ in range(2):
            if idle and idle[-1].idle_since_s - idle[0].idle_since_s > self._keepalive_s:
                self.discard(idle.pop(0))

    async def _connect(self, origin: Origin) -> HttpConnection:
        loop = asyncio.get_running_loop()
        is_tls = origin.scheme == "https"
        if is_tls and self._tls is None:
            self._tls = httpx.create_ssl_context(trust_env=False)
        try:
            transport, connection = await loop.create_connection(
                partial(HttpConnection, self._sweep),
                origin.host,
                origin.port,
                ssl=self._tls if is_tls else None,
                server_hostname=origin.host if is_tls else None,
            )
        except OSError as error:  # a failed look-up and a failed handshake are OSErrors too
            raise _no_connection(origin, error) from error
        except (UnicodeError, OverflowError, ValueError) as error:
            raise httpx.ConnectError(
                f"{origin.host[:100]!r} is not the name of a host: {error}"
            ) from error
        _probe_when_silent(transport)
        return connection


def _no_connection(origin: Origin, error: OSError) -> Exception:
    if error.errno in _OUR_ERRNOS:
        return ClientExhaustedError(
            f"This machine could not open one more connection ({error.strerror}): "
            "raise its limit of open files or ports, or lower the concurrency."
        )
    return httpx.ConnectError(f"No connection to {origin.host}:{origin.port}: {error}")


def _probe_when_silent(transport: asyncio.Transport) -> None:
    """A machine that vanished says nothing; the kernel finds out within about 90 s."""
    connected: socket.socket | None = transport.get_extra_info("socket")
    if connected is None:
        return
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_KEEPIDLE"):
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _PROBE_AFTER_S)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _PROBE_EVERY_S)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _PROBES)
