"""One HTTP/1.1 answer as it is parsed: its head, its body's pieces, and when it is whole.

A thin state around httptools' parser. It knows no socket and waits for nothing.
"""

from http import HTTPMethod, HTTPStatus
from typing import Final, NamedTuple

import httptools
import httpx

MAX_OVERHEAD_BYTES: Final = 256 * 1024
"""Of a head, of trailers, of chunk extensions: an endless one ends here."""


class ResponseHead(NamedTuple):
    status: int
    reason: bytes
    http_version: bytes
    headers: list[tuple[bytes, bytes]]


class HttpAnswer:
    """`head` is None until it is here. `keeps_alive`: the connection may carry another request.

    `has_begun`: at least one byte of it came. `pieces` holds what has come of the body and was not
    taken yet.
    """

    __slots__ = (
        "_headers",
        "_method",
        "_overhead_bytes",
        "_parser",
        "_reason",
        "has_begun",
        "head",
        "is_complete",
        "keeps_alive",
        "pieces",
        "unread_bytes",
    )

    def __init__(self, method: str) -> None:
        self.head: ResponseHead | None = None
        self.pieces: list[bytes] = []
        self.unread_bytes = 0
        self.has_begun = False
        self.is_complete = False
        self.keeps_alive = False
        self._method = method
        self._parser = httptools.HttpResponseParser(self)
        self._reason = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._overhead_bytes = 0

    def feed(self, data: bytes) -> None:
        """Raises httpx.RemoteProtocolError for what is no HTTP/1.1; the body before it is kept."""
        if self.is_complete:
            self.keeps_alive = False
            return
        self.has_begun = True
        self._overhead_bytes += len(data)  # until some of the body comes
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            raise httpx.RemoteProtocolError("The server switched to another protocol.") from None
        except httptools.HttpParserError as error:
            raise httpx.RemoteProtocolError(
                f"What the server sent is no HTTP/1.1: {error}"
            ) from error
        if self._overhead_bytes > MAX_OVERHEAD_BYTES and not self.is_complete:
            what = "a head" if self.head is None else "trailers or chunk extensions"
            raise httpx.RemoteProtocolError(f"The server sent {what} without an end.")

    def end(self, error: Exception | None) -> None:
        """The connection is gone: the end of a body without a length, else a failure.

        Raises:
            httpx.RemoteProtocolError: the server hung up too early.
            httpx.ReadError: the connection was lost.
        """
        if self.is_complete:
            return
        if error is not None:
            raise httpx.ReadError(f"The connection was lost: {error}") from error
        if self.head is None:
            raise httpx.RemoteProtocolError("The server hung up without an answer.")
        if self._has_framing():
            raise httpx.RemoteProtocolError("The server hung up inside its answer.")
        self.is_complete = True

    def take(self) -> bytes:
        """All pieces that have come, as one."""
        piece = self.pieces[0] if len(self.pieces) == 1 else b"".join(self.pieces)
        self.pieces.clear()
        self.unread_bytes = 0
        return piece

    def on_status(self, part: bytes) -> None:
        if self.head is None:
            self._reason += part

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.head is None:  # a trailer comes behind the body, and nobody asked for one
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        if self.head is not None:  # a second answer to one request
            self.keeps_alive = False
            return
        status = self._parser.get_status_code()
        if status >= HTTPStatus.OK:
            version = b"HTTP/" + self._parser.get_http_version().encode("ascii")
            self.head = ResponseHead(status, self._reason, version, self._headers)
            self.is_complete = self._method == HTTPMethod.HEAD
            self.keeps_alive = self._parser.should_keep_alive() and not self.is_complete

    def on_body(self, body: bytes) -> None:
        if not self.is_complete:
            self.pieces.append(body)
            self.unread_bytes += len(body)
            self._overhead_bytes = 0

    def on_message_complete(self) -> None:
        if self.head is None:  # "100 Continue" and the like: the answer is still to come
            self._reason, self._headers = b"", []
        else:
            self.is_complete = True

    def _has_framing(self) -> bool:
        names = {name.lower() for name, _ in self._headers}
        return bool(names & {b"content-length", b"transfer-encoding"})
