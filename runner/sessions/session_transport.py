"""The HTTP transport of the streaming sessions: aiohttp under httpx, with failures named truly.

httpx's own transport slows with the number of streams and would become what is measured. It knows
connections, and neither requests nor deadlines.
"""

import errno
from collections.abc import AsyncIterator

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport

from runner.errors import ClientExhaustedError

KEEPALIVE_S = 2.0  # below the 5 s of uvicorn: a connection the server has just closed is not reused
_READ_BUFFER_BYTES = 4 * 2**20  # aiohttp's 64 KiB stalls long streams by pausing the socket
_WHOLE_BODY_BYTES = 2**20  # aiohttp warns about larger ones: it would hold the event loop
_PIECE_BYTES = 2**16
_OUR_ERRNOS = frozenset(
    (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.EADDRNOTAVAIL)
)


def session_transport(*, keepalive_s: float = KEEPALIVE_S) -> httpx.AsyncBaseTransport:
    """A transport without a limit of connections; the number of sessions is the limit.

    Proxies of the environment are not used: a proxy would be part of what is measured.
    """
    return _SessionTransport(client=lambda: _client_session(keepalive_s))


class _SessionTransport(AiohttpTransport):
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        try:
            response: httpx.Response = await super().handle_async_request(_in_pieces(request))
        except httpx.TransportError as error:
            raise true_failure(error, error.__cause__) from error.__cause__
        except aiohttp.ClientResponseError as error:
            raise httpx.RemoteProtocolError(str(error)) from error
        return response


class _Pieces(httpx.AsyncByteStream):
    def __init__(self, content: bytes) -> None:
        self._content = content

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self._content), _PIECE_BYTES):
            yield self._content[start : start + _PIECE_BYTES]


def _in_pieces(request: httpx.Request) -> httpx.Request:
    if len(request.content) <= _WHOLE_BODY_BYTES:
        return request
    return httpx.Request(
        request.method,
        request.url,
        headers=request.headers,  # the content-length among them, so that it is not sent chunked
        stream=_Pieces(request.content),
        extensions=request.extensions,
    )


def _client_session(keepalive_s: float) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=keepalive_s),
        cookie_jar=aiohttp.DummyCookieJar(),
        read_bufsize=_READ_BUFFER_BYTES,
    )


def true_failure(error: httpx.TransportError, cause: BaseException | None) -> Exception:
    """The adapter calls every lost connection a connect timeout; its cause tells them apart."""
    if isinstance(cause, aiohttp.ConnectionTimeoutError):
        return httpx.ConnectTimeout(str(cause))
    if isinstance(cause, aiohttp.ClientConnectorCertificateError):
        return httpx.ConnectError(str(cause))
    if isinstance(cause, aiohttp.ClientConnectorError):
        return _no_connection(cause)
    if isinstance(cause, aiohttp.ClientConnectionError):
        return httpx.ReadError(str(cause))
    return error


def _no_connection(cause: aiohttp.ClientConnectorError) -> Exception:
    if cause.os_error.errno not in _OUR_ERRNOS:
        return httpx.ConnectError(str(cause))
    return ClientExhaustedError(
        f"This machine could not open one more connection ({cause.os_error.strerror}): "
        "raise its limit of open files or ports, or lower the concurrency."
    )
