"""A transport that plays an answer from a script: (seconds to wait, bytes) and, last, an error."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence

import httpx

FOREVER = 1e9
Step = tuple[float, bytes | Exception]
SSE = {"content-type": "text/event-stream"}


class ScriptedTransport(httpx.AsyncBaseTransport):
    """Answers each request with the next script; the last one is used again and again."""

    def __init__(
        self,
        *scripts: Sequence[Step],
        head_after_s: float = 0.0,
        status: int = 200,
        headers: Mapping[str, str] = SSE,
    ) -> None:
        self.requests: list[httpx.Request] = []
        self.closed = 0
        self._scripts = list(scripts)
        self._head_after_s = head_after_s
        self._status = status
        self._headers = headers

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        script = self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0]
        await asyncio.sleep(self._head_after_s)
        return httpx.Response(
            self._status, headers=self._headers, stream=_ScriptedStream(script, self._count_close)
        )

    def _count_close(self) -> None:
        self.closed += 1


class FailingTransport(httpx.AsyncBaseTransport):
    """Raises instead of answering."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        raise self._error


class _ScriptedStream(httpx.AsyncByteStream):
    def __init__(self, script: Sequence[Step], on_close: Callable[[], None]) -> None:
        self._script = script
        self._on_close = on_close

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for wait_s, step in self._script:
            await asyncio.sleep(wait_s)
            if isinstance(step, Exception):
                raise step
            yield step

    async def aclose(self) -> None:
        self._on_close()
