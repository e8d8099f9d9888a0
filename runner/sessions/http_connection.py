"""One HTTP/1.1 connection on which an answer is read as it comes, one piece a read.

An asyncio protocol that waits; the parsing is the answer's. Pools, deadlines and what an answer
means are others'. Failures are httpx's, so that any httpx client understands them.

Hundreds of streams bring a small read each, one stream after the other, and parsing a read at once
costs several times what it costs among others of the same stream. So a read that surely does not
end its answer is kept with its time, and parsed with those that follow.
"""

import asyncio
import select
from collections.abc import Callable
from typing import Final, TypeAlias, cast

import httpx

from runner.sessions.http_answer import HttpAnswer, ResponseHead
from runner.sessions.parse_sweep import ParseSweep

Take: TypeAlias = Callable[[list[bytes], list[float]], bool]
"""Given what reads brought of a body, and when each was, on the loop's clock; false once no more is
wanted."""

_UNREAD_LIMIT_BYTES: Final = 4 * 2**20
"""A reader this far behind stops the socket until it has caught up."""

_EVENT_ENDS_A_CHUNK: Final = b"\n\n\r\n"
"""A chunked answer cannot end so: behind its last chunk there is an empty line."""

_END_OF_STREAM: Final = b"[DONE]"  # to be known at once, since some servers end nothing more
_SMALL_BYTES: Final = 4096
_MOST_UNPARSED: Final = 64  # of small reads: at most 256 KiB a connection


class HttpConnection(asyncio.Protocol):
    """Carries one request at a time: `begin`, `write` (any number), `end_request`, `head`, then
    `next_piece` until it is b"", or `each_piece` once. `idle_since_s` is when it was last put back,
    on the loop's clock. `sweep` sees to it that no read stays unparsed for long.
    """

    __slots__ = (
        "_answer",
        "_failure",
        "_is_closed",
        "_loop",
        "_may_parse_later",
        "_reading_is_paused",
        "_request_is_whole",
        "_requests",
        "_sweep",
        "_take",
        "_transport",
        "_unparsed",
        "_unparsed_at_s",
        "_unsent_head",
        "_waiter",
        "_writing_is_paused",
        "idle_since_s",
    )

    def __init__(self, sweep: ParseSweep) -> None:
        self.idle_since_s = 0.0
        self._sweep = sweep
        self._loop = asyncio.get_running_loop()
        self._requests = 0
        self._transport: asyncio.Transport | None = None
        self._answer: HttpAnswer | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._take: Take | None = None
        self._may_parse_later = False
        self._unparsed: list[bytes] = []
        self._unparsed_at_s: list[float] = []
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
        return b"".join(self._taken_of(answer))

    async def each_piece(self, take: Take) -> None:
        """Gives `take` what reads bring without waking a task, within a read or by `catch_up`.

        Returns at the end of the body, or when no more is wanted. Raises as `head` does, and what
        `take` raises.
        """
        answer = self._current
        if answer.pieces:
            pieces = self._taken_of(answer)
            if not take(pieces, [self._loop.time()] * len(pieces)):
                return
        self._take = take
        self._may_parse_later = answer.is_chunked
        try:
            while self._take is not None and not answer.is_complete:
                await self._news()
        finally:
            self._may_parse_later = False
            self.catch_up()
            self._take = None

    def catch_up(self) -> None:
        """Parses the reads that were put off, and gives away what they brought."""
        reads, times_s = self._unparsed, self._unparsed_at_s
        if not reads:
            return
        self._unparsed, self._unparsed_at_s = [], []
        answer = self._current
        places = answer.feed(reads)
        if answer.failure is not None:
            self._fail(answer.failure)
        take = self._take
        if take is not None and answer.pieces:
            try:
                if len(places) < len(times_s):
                    times_s = [times_s[place] for place in places]
                if not take(answer.take(), times_s):
                    self._take = None
            except Exception as error:  # the protocol must live; who reads the body hears of it
                self._fail(error)
        if self._take is not None and not answer.is_complete and self._failure is None:
            return
        self._may_parse_later = False
        if answer.unread_bytes > _UNREAD_LIMIT_BYTES and self._transport is not None:
            self._reading_is_paused = True
            self._transport.pause_reading()
        self._wake()

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
        unparsed = self._unparsed
        unparsed.append(data)
        self._unparsed_at_s.append(self._loop.time())
        if (
            self._may_parse_later
            and data.endswith(_EVENT_ENDS_A_CHUNK)
            and _END_OF_STREAM not in data
            and len(data) <= _SMALL_BYTES
            and len(unparsed) < _MOST_UNPARSED
        ):
            if len(unparsed) == 1:
                self._sweep.add(self)
            return
        if self._answer is None or self._answer.is_complete:  # nobody asked for it
            unparsed.clear()
            self._unparsed_at_s.clear()
            self.close()
            return
        self.catch_up()

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

    def _taken_of(self, answer: HttpAnswer) -> list[bytes]:
        pieces = answer.take()
        if self._reading_is_paused and self._transport is not None:
            self._reading_is_paused = False
            self._transport.resume_reading()
        return pieces

    def _put(self, data: bytes) -> None:
        if self._unsent_head:
            data, self._unsent_head = self._unsent_head + data, b""
        if self._is_closed or self._transport is None:
            self._fail(httpx.ReadError("The server closed the connection."))
        else:
            self._transport.write(data)

    def _end_of_input(self, error: Exception | None) -> None:
        self.catch_up()
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
