"""Sends one chat request and records what came back, byte by byte, under deadlines of its own.

Whatever the server does ends as a record; what it means is the judge's to say. A token is told from
a mere sign of life only because deadlines depend on it.
"""

import asyncio
import contextlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from types import TracebackType
from typing import NamedTuple, Self

import httpx
import msgspec

from db.raw_bytes import CAP_BYTES
from db.vocabulary import ErrorReason, TransportEnd
from runner.campaign.campaign import Deadlines
from runner.control.secrets import Secrets
from runner.judge.json_values import JsonObject
from runner.judge.record import TurnRecord
from runner.sessions.content_coding import content_decoder
from runner.sessions.deadline_watch import DeadlineWatch, watched
from runner.sessions.exchange import Exchange
from runner.sessions.http_connection import Take
from runner.sessions.open_request import OpenRequest
from runner.sessions.stream_transport import ON_RESEND, PushedBody

MAX_BODY_BYTES = CAP_BYTES + 1  # one more than is stored, so that the store can tell
LINGER_S = 1.0
_OUR_OWN_FAULTS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError, httpx.PoolTimeout)
_HEADERS = {
    "content-type": "application/json",
    "accept": "text/event-stream, application/json",
    "accept-encoding": "identity",
    "user-agent": "decisive",
}


def encode_body(body: JsonObject) -> bytes:
    """The bytes that go over the wire, which are also those that are recorded.

    Raises ValueError or TypeError for what is no JSON: NaN, half of a character, a set.
    """
    with contextlib.suppress(ValueError, TypeError, OverflowError, RecursionError):
        # Faster, but it takes NaN for null and a set for a list: then something else comes back.
        encoded = msgspec.json.encode(body)
        if msgspec.json.decode(encoded) == body:
            return encoded
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


class StreamingClient:
    """One client drives many sessions at once; `transport` decides how the bytes travel.

    `headers` may hold an API key: they are sent and never recorded; `secrets` are taken out of
    answers that repeat them. `sent` counts requests. After `[DONE]` the client waits
    `linger_s` for the end of the answer, because to a server hanging up first looks like an abort.
    """

    def __init__(
        self,
        base_url: str,
        *,
        transport: httpx.AsyncBaseTransport,
        deadlines: Deadlines,
        path: str = "/v1/chat/completions",
        headers: Mapping[str, str] | None = None,
        secrets: Secrets | None = None,
        max_body_bytes: int = MAX_BODY_BYTES,
        linger_s: float = LINGER_S,
    ) -> None:
        self._url = httpx.URL(base_url.rstrip("/") + path)
        self._deadlines = deadlines
        self._linger_s = linger_s
        self.max_body_bytes = max_body_bytes
        self._secrets = secrets or Secrets()
        self.sent = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self._open: dict[str, Exchange] = {}
        self._progress_at: float | None = None
        self._transport = transport
        self._headers = {"host": self._url.netloc.decode("ascii"), **_HEADERS, **(headers or {})}
        self._timeouts = {"connect": deadlines.connect_s, "pool": deadlines.connect_s}

    async def send(
        self,
        body: JsonObject,
        *,
        request_id: str,
        encoded: bytes | None = None,
        session_left_s: float | None = None,
    ) -> TurnRecord:
        """One request, to its end or to the first deadline; the connection is closed by then.

        `encoded` is the body as `encode_body` gives it, where that was done before.
        `session_left_s` is what remains of the session's time; all of it where it is not given.

        Raises:
            ClientExhaustedError, httpx.PoolTimeout, ...: faults of this machine or of our own use,
                never those of the server.
        """
        exchange = Exchange(
            is_stream=body.get("stream") is True,
            deadlines=self._deadlines,
            session_left_s=self._deadlines.session_s if session_left_s is None else session_left_s,
            linger_s=self._linger_s,
            max_body_bytes=self.max_body_bytes,
            now=asyncio.get_running_loop().time,
        )
        content = encode_body(body) if encoded is None else encoded
        request = httpx.Request(  # with `stream`, httpx looks for no headers of its own to add
            "POST",
            self._url,
            stream=httpx.ByteStream(content),
            headers={
                **self._headers,
                "content-length": str(len(content)),
                "x-request-id": request_id,
            },
            extensions={"timeout": self._timeouts, ON_RESEND: exchange.note_resent},
        )
        with self._one_more_in_flight(request_id, exchange):
            end = await self._carry_out(request, exchange)
        record = exchange.record(end.transport_end, deadline=end.deadline)
        if self._secrets:
            record = replace(record, body=self._secrets.hidden(record.body))
        if end.transport_end is TransportEnd.CLEAN_EOF and record.http_status == HTTPStatus.OK:
            self._progress_at = asyncio.get_running_loop().time()
        return record

    @property
    def open_exchanges(self) -> Mapping[str, Exchange]:
        """By the ids of their requests."""
        return self._open

    def open_requests(self) -> tuple[OpenRequest, ...]:
        found: list[OpenRequest] = []
        for request_id, exchange in self._open.items():
            waiting_s = exchange.waiting_s()
            found.append(OpenRequest(request_id, waiting_s, min(waiting_s, exchange.quiet_s())))
        return tuple(found)

    def progress_at(self) -> float | None:
        """When any answer last made progress, on the event loop's clock; None before the first."""
        moments = [exchange.progress_at() for exchange in self._open.values()]
        known = [moment for moment in (*moments, self._progress_at) if moment is not None]
        return max(known, default=None)

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    @contextmanager
    def _one_more_in_flight(self, request_id: str, exchange: Exchange) -> Iterator[None]:
        self._open[request_id] = exchange
        self.sent += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            yield
        finally:
            self.in_flight -= 1
            # A stream that said [DONE] has just made progress; that need not be read from it.
            if exchange.only_its_end_is_open:
                self._progress_at = asyncio.get_running_loop().time()
            elif (progress_at := exchange.progress_at()) is not None:
                self._progress_at = max(progress_at, self._progress_at or progress_at)
            self._open.pop(request_id, None)

    async def _carry_out(self, request: httpx.Request, exchange: Exchange) -> "_End":
        try:
            async with watched(exchange.next_deadline) as watch:
                await self._receive(request, exchange, watch)
        except TimeoutError:
            return _end_of_wait(watch)
        except _OUR_OWN_FAULTS:
            raise
        except httpx.ConnectTimeout:
            return _End(TransportEnd.CONNECT_FAILED, ErrorReason.CONNECT)
        except httpx.ConnectError:
            return _End(TransportEnd.CONNECT_FAILED, None)
        except httpx.TransportError:
            return _End(TransportEnd.RESET, None)
        if exchange.body.is_full:
            return _End(TransportEnd.CLIENT_DEADLINE, None)
        return _End(TransportEnd.CLEAN_EOF, None)

    async def _receive(
        self, request: httpx.Request, exchange: Exchange, watch: DeadlineWatch
    ) -> None:
        response = await self._transport.handle_async_request(request)
        try:
            stream = response.stream
            assert isinstance(stream, httpx.AsyncByteStream)
            exchange.begin(
                response.status_code,
                response.headers.get("content-type", ""),
                catch_up=stream.catch_up if isinstance(stream, PushedBody) else None,
            )
            decoder = content_decoder(response.headers.get("content-encoding", ""))
            take = exchange.taker(decoder=decoder, on_only_its_end_open=watch.look)
            await _each_piece(stream, take)
        finally:
            await response.aclose()


async def _each_piece(stream: httpx.AsyncByteStream, take: Take) -> None:
    """Until the stream's end, or until `take` says that it wants no more."""
    if isinstance(stream, PushedBody):
        await stream.each_piece(take)
        return
    now_s = asyncio.get_running_loop().time
    async for data in stream:
        if not take([data], [now_s()]):
            return


class _End(NamedTuple):
    transport_end: TransportEnd
    deadline: ErrorReason | None


def _end_of_wait(watch: DeadlineWatch) -> _End:
    """A time-out that is not the watch's is one of the network; [DONE] without an end is an end."""
    if watch.missed is None:
        return _End(TransportEnd.RESET, None)
    if watch.missed.reason is None:
        return _End(TransportEnd.CLEAN_EOF, None)
    return _End(TransportEnd.CLIENT_DEADLINE, watch.missed.reason)
