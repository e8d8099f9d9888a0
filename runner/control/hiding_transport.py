"""An HTTP transport whose answers have no secrets in them, even where a server repeats them."""

from collections.abc import AsyncIterator

import httpx

from runner.control.secrets import HidingStream, Secrets


class HidingTransport(httpx.AsyncBaseTransport):
    """Asks for answers that are not compressed: a secret could not be seen in those."""

    def __init__(self, transport: httpx.AsyncBaseTransport, secrets: Secrets) -> None:
        self._transport = transport
        self._secrets = secrets

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        request.headers["accept-encoding"] = "identity"
        answer = await self._transport.handle_async_request(request)
        if not self._secrets:
            return answer
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        return httpx.Response(
            answer.status_code,
            headers=answer.headers,
            stream=_Hidden(answer.stream, HidingStream(self._secrets)),
            extensions=answer.extensions,
        )

    async def aclose(self) -> None:
        await self._transport.aclose()


class _Hidden(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream, hiding: HidingStream) -> None:
        self._stream = stream
        self._hiding = hiding

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            yield self._hiding.feed(piece)
        yield self._hiding.rest()

    async def aclose(self) -> None:
        await self._stream.aclose()
