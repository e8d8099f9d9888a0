"""One HTTP/1.1 answer as it is parsed: its head, its body's pieces, and when it is whole.

A thin state around httptools' parser. It knows no socket and waits for nothing.
"""

from http import HTTPMethod, HTTPStatus
from itertools import pairwise
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

    `has_begun`: at least one byte of it came. `is_chunked`: its body says itself where it ends.
    `pieces` holds what has come of the body and was not taken yet, one piece for each read;
    `unread_bytes`, of the reads that brought them.
    """

    __slots__ = (
        "_headers",
        "_method",
        "_overhead_bytes",
        "_parser",
        "_pieces_at_end",
        "_reason",
        "failure",
        "has_begun",
        "head",
        "is_chunked",
        "is_complete",
        "keeps_alive",
        "on_body",
        "pieces",
        "unread_bytes",
    )

    def __init__(self, method: str) -> None:
        self.head: ResponseHead | None = None
        self.pieces: list[bytes] = []
        self.on_body = self.pieces.append  # for the parser, which calls nothing slower
        self.unread_bytes = 0
        self.failure: httpx.RemoteProtocolError | None = None
        self.has_begun = False
        self.is_complete = False
        self.is_chunked = False
        self.keeps_alive = False
        self._pieces_at_end = 0
        self._method = method
        self._parser = httptools.HttpResponseParser(self)
        self._reason = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._overhead_bytes = 0

    def feed(self, reads: list[bytes]) -> list[int]:
        """Parses them; gives the places of those that brought a piece of the body.

        What is no HTTP/1.1 becomes the `failure`; the body before it is kept.
        """
        pieces, feed_data = self.pieces, self._parser.feed_data
        counts = [len(pieces)]
        self.has_begun = True
        try:
            for data in reads:
                if self.is_complete:  # nobody asked for more
                    self.keeps_alive = False
                    break
                feed_data(data)
                counts.append(len(pieces))
        except httptools.HttpParserUpgrade:
            self.failure = httpx.RemoteProtocolError("The server switched to another protocol.")
            counts.append(len(pieces))
        except httptools.HttpParserError as error:
            self.failure = httpx.RemoteProtocolError(
                f"What the server sent is no HTTP/1.1: {error}"
            )
            self.failure.__cause__ = error
            counts.append(len(pieces))
        self.unread_bytes += sum(map(len, reads))
        if not self.is_complete and counts == list(range(counts[0], counts[0] + len(reads) + 1)):
            self._overhead_bytes = 0
            return list(range(len(reads)))
        return self._one_piece_a_read(reads, counts)

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

    def take(self) -> list[bytes]:
        """All pieces that have come."""
        pieces = self.pieces[:]
        self.pieces.clear()
        self.unread_bytes = 0
        return pieces

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
            self.is_chunked = _is_chunked(self._headers)
            self.is_complete = self._method == HTTPMethod.HEAD
            self.keeps_alive = self._parser.should_keep_alive() and not self.is_complete

    def on_message_complete(self) -> None:
        if self.head is None:  # "100 Continue" and the like: the answer is still to come
            self._reason, self._headers = b"", []
        elif not self.is_complete:
            self.is_complete = True
            self._pieces_at_end = len(self.pieces)

    def _one_piece_a_read(self, reads: list[bytes], counts: list[int]) -> list[int]:
        """The places of the reads that brought one; `counts`: of pieces, before and after each."""
        pieces = self.pieces
        if self.is_complete:  # a second answer to one request has a body too
            del pieces[self._pieces_at_end :]
        before_last = list(range(counts[0], counts[0] + len(counts) - 1))
        # Mostly it is the last read that differs: it brought the end, or nothing whole.
        alike = len(before_last) - 1 if counts[:-1] == before_last else 0
        places = list(range(alike))
        if alike:
            self._overhead_bytes = 0
        joined: list[bytes] = []
        for place, (start, end) in enumerate(pairwise(counts[alike:]), start=alike):
            if piece := b"".join(pieces[start:end]):
                joined.append(piece)
                places.append(place)
                self._overhead_bytes = 0
            else:
                self._overhead_bytes += len(reads[place])
        pieces[counts[0] + alike :] = joined
        if self._overhead_bytes > MAX_OVERHEAD_BYTES and not self.is_complete:
            what = "a head" if self.head is None else "trailers or chunk extensions"
            self.failure = self.failure or httpx.RemoteProtocolError(
                f"The server sent {what} without an end."
            )
        return places

    def _has_framing(self) -> bool:
        names = {name.lower() for name, _ in self._headers}
        return bool(names & {b"content-length", b"transfer-encoding"})


def _is_chunked(headers: list[tuple[bytes, bytes]]) -> bool:
    return any(
        name.lower() == b"transfer-encoding" and value.lower().endswith(b"chunked")
        for name, value in headers
    )
