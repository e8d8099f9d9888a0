"""Responses that notice when their client has gone, even while nothing is being sent.

They know ASGI only; what they send comes from the iterator or the coroutine they are given.
Starlette's own streaming response learns of a disconnect by sending, which a stalled request
never does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
]


class SseResponse(Response):
    """Sends the headers at once, then each chunk as it comes, until the client leaves."""

    def __init__(self, chunks: AsyncIterator[bytes], on_disconnect: Callable[[], None]) -> None:
        self._chunks = chunks
        self._on_disconnect = on_disconnect

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        if not await outlives_client(self._send_all(send), receive):
            self._on_disconnect()

    async def _send_all(self, send: Send) -> None:
        async for chunk in self._chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class DeferredResponse(Response):
    """Sends the response that `answer` comes to; `on_disconnect` if the client leaves before."""

    def __init__(
        self, answer: Coroutine[None, None, Response], on_disconnect: Callable[[], None]
    ) -> None:
        self._answer = answer
        self._on_disconnect = on_disconnect

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def respond() -> None:
            await (await self._answer)(scope, receive, send)

        if not await outlives_client(respond(), receive):
            self._on_disconnect()


async def outlives_client(work: Coroutine[None, None, None], receive: Receive) -> bool:
    """Do `work`; if the client disconnects before it is done, cancel it and return False."""
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_disconnect(receive))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            return False
        working.result()
        return True
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
