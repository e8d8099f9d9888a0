"""One HTTP/1.1 connection on which an answer is read as it comes, one piece a read.

An asyncio protocol that waits; the parsing is the answer's. Pools, deadlines and what an answer
means are others'. Failures are httpx's, so that any httpx client understands them.
"""

import asyncio
import select
from collections.abc import Callable
from typing import Final, TypeAlias, cast

import httpx

from runner.sessions.http_answer import HttpAnswer, ResponseHead

Take: TypeAlias = Callable[[bytes], bool]
"""Given a piece of a body; false once no more is wanted."""

_UNREAD_LIMIT_BYTES: Final = 4 * 2**20
"""A reader this far behind stops the socket until it has caught up."""


class HttpConnection(asyncio.Protocol):
    """Carries one request at a time: `begin`, `write` (any number), `end_request`, `head`, then
    `next_piece` until it is b"", or `each_piece` once. `idle_since_s` is when it was last put back,
    on the loop's clock.
    """

    __slots__ = (
        "_answer",
        "_failure",
        "_is_closed",
        "_loop",
        "_reading_is_paused",
        "_request_is_whole",
        "_requests",
        "_take",
        "_transport",
        "_unsent_head",
        "_waiter",
        "_writing_is_paused",
        "idle_since_s",
    )

    def __init__(self) -> None:
        self.idle_since_s = 0.0
        self._loop = asyncio.get_running_loop()
        self._requests = 0
        self._transport: asyncio.Transport | None = None
        self._answer: HttpAnswer | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._take: Take | None = None
        self._unsent_head = b""
        self._failure: Exception | None = None
        self._is_closed = False
        self._request_is_whole = False
        self._writing_is_paused = False
        self._reading_is_paused = False

    def begin(self, method: str, head: bytes) -> None:
        """Starts a request with its head, which must end in an empty line.

        It goes out with the first part of the body, as one packet of both.
        """
        self._requests += 1
        self._answer = HttpAnswer(method)
        self._request_is_whole = False
        self._unsent_head = head

    async def write(self, data: bytes) -> None:
        """Sends a part of the body; waits while the server takes none, unless it has answered."""
        self._put(data)
        while self._writing_is_paused and not self.has_answered:
            await self._news()

    def end_request(self) -> None:
        """The request was handed over whole."""
        if self._unsent_head:
            self._put(b"")
        self._request_is_whole = True

    @property
    def was_lost_before_use(self) -> bool:
        """It carried a request before, and it ended without one byte of the answer to this one."""
        return self._requests > 1 and self._is_closed and not self._current.has_begun

    @property
    def has_answered(self) -> bool:
        """The head of the answer is here, or there will be none."""
        return self._failure is not None or self._current.head is not None

    async def head(self) -> ResponseHead:
        """The head of the answer.

        Raises:
            httpx.RemoteProtocolError: it was no HTTP, or the server hung up without a word.
            httpx.ReadError: the connection was lost.
        """
        answer = self._current
        while answer.head is None:
            await self._news()
        return answer.head

    async def next_piece(self) -> bytes:
        """What one read brought of the body, or several where the reader is late; b"" at its end.

        What had come before a failure is given first. Raises as `head` does.
        """
        answer = self._current
        while not answer.pieces:
            if answer.is_complete:
                return b""
            await self._news()
        return self._taken_of(answer)

    async def each_piece(self, take: Take) -> None:
        """Gives `take` what a read brings, within that read: no task is woken for a piece.

        Returns at the end of the body, or when no more is wanted. Raises as `head` does, and what
        `take` raises.
        """
        answer = self._current
        if answer.pieces and not take(self._taken_of(answer)):
            return
        self._take = take
        try:
            while self._take is not None and not answer.is_complete:
                await self._news()
        finally:
            self._take = None

    @property
    def is_reusable(self) -> bool:
        """The answer is whole, the request was taken whole, and neither side asked to close."""
        return (
            self._current.is_complete
            and self._current.keeps_alive
            and self._request_is_whole
            and not self._is_closed
            and self._transport is not None
            and self._transport.get_write_buffer_size() == 0
        )

    @property
    def has_news(self) -> bool:
        """Of an idle connection: the server closed it, or said what nobody asked for."""
        if self._is_closed or self._transport is None:
            return True
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket").fileno(), select.POLLIN)
        return bool(poll.poll(0))

    def close(self) -> None:
        """At once; what was not sent yet is dropped."""
        self._is_closed = True
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's derive from nothing

    def data_received(self, data: bytes) -> None:
        answer = self._answer
        if answer is None or answer.is_complete:  # nobody asked for it
            self.close()
            return
        try:
            answer.feed(data)
        except httpx.RemoteProtocolError as error:
            self._fail(error)
        take = self._take
        if take is not None and answer.pieces:
            try:
                if not take(answer.take()):
                    self._take = None
            except Exception as error:  # the protocol must live; who reads the body hears of it
                self._fail(error)
            if self._take is not None and not answer.is_complete and self._failure is None:
                return
        if answer.unread_bytes > _UNREAD_LIMIT_BYTES and self._transport is not None:
            self._reading_is_paused = True
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> bool:
        self._end_of_input(None)
        return False

    def connection_lost(self, error: Exception | None) -> None:
        self._is_closed = True
        self._writing_is_paused = False
        self._end_of_input(error)

    def pause_writing(self) -> None:
        self._writing_is_paused = True

    def resume_writing(self) -> None:
        self._writing_is_paused = False
        self._wake()

    @property
    def _current(self) -> HttpAnswer:
        assert self._answer is not None, "no request was begun"
        return self._answer

    def _taken_of(self, answer: HttpAnswer) -> bytes:
        piece = answer.take()
        if self._reading_is_paused and self._transport is not None:
            self._reading_is_paused = False
            self._transport.resume_reading()
        return piece

    def _put(self, data: bytes) -> None:
        if self._unsent_head:
            data, self._unsent_head = self._unsent_head + data, b""
        if self._is_closed or self._transport is None:
            self._fail(httpx.ReadError("The server closed the connection."))
        else:
            self._transport.write(data)

    def _end_of_input(self, error: Exception | None) -> None:
        if self._answer is not None and self._failure is None:
            try:
                self._answer.end(error)
            except httpx.TransportError as failure:
                self._fail(failure)
        self._wake()

    def _fail(self, failure: Exception) -> None:
        self._failure = self._failure or failure
        self.close()

    async def _news(self) -> None:
        """Returns when something has changed; raises what went wrong."""
        if self._failure is not None:
            raise self._failure
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
