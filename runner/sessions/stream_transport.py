"""An httpx transport for streams: hundreds of open answers on one core, each read as it comes.

HTTP/1.1 over asyncio and httptools. It is the sessions' own because httpx's slows with the number
of open streams and would become what is measured. Proxies and redirects are httpx's business.
"""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Awaitable
from typing import Final, TypeVar

import httpx

from runner.sessions.connection_pool import ConnectionPool, Origin
from runner.sessions.http_connection import HttpConnection, Take

KEEPALIVE_S: Final = 2.0  # below the 5 s of uvicorn
_PORTS: Final = {"http": 80, "https": 443}
ON_RESEND: Final = "on_resend"
"""A request's extension: called without arguments before the request goes out a second time."""

RESEND_WITHIN_S: Final = 5.0
"""A server that took longer to hang up had taken the request."""

_UNSENDABLE: Final = re.compile(rb"[\r\n\0]")
_PIECE_BYTES: Final = 2**18
_LOST: Final = (httpx.ReadError, httpx.RemoteProtocolError)
_Value = TypeVar("_Value")


class StreamTransport(httpx.AsyncBaseTransport):
    """Use it in one event loop. Deadlines are the request's own: httpx's `timeout` extension.

    A request that a server dropped is its sender's to repeat or to count, with one exception, as in
    curl: where a kept connection ends without one byte of an answer, the server may have closed it,
    by its idle timer, before it saw the request, which then goes out once more on a new connection.
    `ON_RESEND` hears of it.
    """

    def __init__(
        self,
        *,
        keepalive_s: float = KEEPALIVE_S,
        resend_within_s: float = RESEND_WITHIN_S,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._resend_within_s = resend_within_s
        self._pool = ConnectionPool(keepalive_s=keepalive_s, tls=tls)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The response as soon as its head is here.

        Raises:
            httpx.TransportError: by its usual names; what the server did or failed to do.
            httpx.LocalProtocolError, httpx.UnsupportedProtocol: the request cannot be sent.
            ClientExhaustedError: this machine has no socket left.
        """
        origin = _origin(request.url)
        try:
            return await self._attempt(request, origin)
        except _KeptConnectionLostError as lost:
            if not isinstance(request.stream, httpx.ByteStream):  # it can be read but once
                raise lost.failure from None
            request.extensions.get(ON_RESEND, _nobody_hears)()
        return await self._attempt(request, origin, is_second=True)

    async def _attempt(
        self, request: httpx.Request, origin: Origin, *, is_second: bool = False
    ) -> httpx.Response:
        head = _request_head(request)
        timeouts = request.extensions.get("timeout", {})
        connection = None if is_second else self._pool.kept(origin)
        if connection is None:
            connection = await _within(
                timeouts.get("connect"), self._pool.opened(origin), httpx.ConnectTimeout
            )
        sent_at_s = asyncio.get_running_loop().time()
        read_s: float | None = timeouts.get("read")
        try:
            connection.begin(request.method, head)
            await _send_body(connection, request, timeouts.get("write"))
            answer = await _within(read_s, connection.head(), httpx.ReadTimeout)
        except BaseException as error:
            was_lost = connection.was_lost_before_use
            took_s = asyncio.get_running_loop().time() - sent_at_s
            self._pool.discard(connection)
            if isinstance(error, _LOST) and was_lost and took_s < self._resend_within_s:
                raise _KeptConnectionLostError(error) from error
            raise
        return httpx.Response(
            answer.status,
            headers=answer.headers,
            stream=PushedBody(self._pool, origin, connection, read_s),
            extensions={"http_version": answer.http_version, "reason_phrase": answer.reason},
        )

    async def aclose(self) -> None:
        self._pool.close()


class _KeptConnectionLostError(Exception):
    def __init__(self, failure: httpx.TransportError) -> None:
        super().__init__(str(failure))
        self.failure = failure


def _nobody_hears() -> None:
    return


class PushedBody(httpx.AsyncByteStream):
    """A body that can give its pieces away as they are read, without waking a task for each."""

    def __init__(
        self,
        pool: ConnectionPool,
        origin: Origin,
        connection: HttpConnection,
        read_s: float | None,
    ) -> None:
        self._pool = pool
        self._origin = origin
        self._connection: HttpConnection | None = connection
        self._read_s = read_s

    async def __aiter__(self) -> AsyncIterator[bytes]:
        connection = self._connection
        if connection is None:
            raise httpx.StreamClosed
        if self._read_s is None:  # a timer for each piece would cost as much as the piece
            while piece := await connection.next_piece():
                yield piece
        else:
            while piece := await _within(self._read_s, connection.next_piece(), httpx.ReadTimeout):
                yield piece

    async def each_piece(self, take: Take) -> None:
        """As `HttpConnection.each_piece`; a read timeout does not count here."""
        if self._connection is None:
            raise httpx.StreamClosed
        await self._connection.each_piece(take)

    def catch_up(self) -> None:
        """Gives away at once what was read and not parsed yet."""
        if self._connection is not None:
            self._connection.catch_up()

    async def aclose(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            self._pool.put_back(self._origin, connection)


def _origin(url: httpx.URL) -> Origin:
    if url.scheme not in _PORTS:
        raise httpx.UnsupportedProtocol(f"{url.scheme!r} is neither http nor https.")
    if not url.host:
        raise httpx.UnsupportedProtocol("The address names no host.")
    return Origin(url.scheme, url.raw_host.decode("ascii"), url.port or _PORTS[url.scheme])


def _request_head(request: httpx.Request) -> bytes:
    lines = [b"%b %b HTTP/1.1" % (request.method.encode("ascii"), request.url.raw_path)]
    lines += [b"%b: %b" % (name, value) for name, value in request.headers.raw]
    for line in lines:
        if _UNSENDABLE.search(line):
            raise httpx.LocalProtocolError("A header holds a line break or a zero byte.")
    return b"\r\n".join((*lines, b"", b""))


async def _send_body(
    connection: HttpConnection, request: httpx.Request, write_s: float | None
) -> None:
    is_chunked = "content-length" not in request.headers and "transfer-encoding" in request.headers
    assert isinstance(request.stream, httpx.AsyncByteStream)
    async for data in request.stream:
        for start in range(0, len(data), _PIECE_BYTES):
            if connection.has_answered:  # "413 Too Large" and the like: the rest is not wanted
                return
            piece = data[start : start + _PIECE_BYTES]
            framed = b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece
            await _within(write_s, connection.write(framed), httpx.WriteTimeout)
    if is_chunked:
        await _within(write_s, connection.write(b"0\r\n\r\n"), httpx.WriteTimeout)
    connection.end_request()


async def _within(
    seconds: float | None, waited_for: Awaitable[_Value], failure: type[httpx.TimeoutException]
) -> _Value:
    if seconds is None:
        return await waited_for
    try:
        async with asyncio.timeout(seconds):
            return await waited_for
    except TimeoutError as error:
        raise failure(f"Nothing came of it within {seconds:g} s.") from error
