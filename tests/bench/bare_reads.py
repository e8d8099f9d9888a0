"""The least that a client over asyncio can do: read what comes, keep it with its time, ask again.

It parses nothing, knows no failure and no deadline. What it costs is the machine's own price of a
read; what another client costs beyond it is that client's.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import cast
from urllib.parse import urlsplit

from tests.bench.stream_load import Load
from tests.bench.stub_server import END

_REQUEST = (
    b'POST /v1/chat/completions HTTP/1.1\r\nhost: stub\r\ncontent-length: 15\r\n\r\n{"stream":true}'
)


class BareReads(asyncio.Protocol):
    """One connection; `left` is shared: whoever has ended takes the next request."""

    def __init__(self, left: Iterator[int], ended: asyncio.Future[None]) -> None:
        self._left = left
        self._ended = ended
        self._reads: list[bytes] = []
        self._at_s: list[float] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._ask()

    def data_received(self, data: bytes) -> None:
        self._reads.append(data)
        self._at_s.append(time.perf_counter())
        is_cut = len(data) < len(END)
        if data.endswith(END) or (is_cut and b"".join(self._reads[-2:]).endswith(END)):
            self._ask()

    def _ask(self) -> None:
        self._reads, self._at_s = [], []
        if next(self._left, None) is None:
            self._transport.close()
            self._ended.set_result(None)
        else:
            self._transport.write(_REQUEST)


@asynccontextmanager
async def bare_reads(url: str, load: Load) -> AsyncIterator[Callable[[], Awaitable[str]]]:
    """A client of the bench: what it gives plays the load."""
    address = urlsplit(url)
    loop = asyncio.get_running_loop()
    left = iter(range(load.requests))

    async def play() -> None:
        ended: asyncio.Future[None] = loop.create_future()
        await loop.create_connection(lambda: BareReads(left, ended), address.hostname, address.port)
        await ended

    async def drive() -> str:
        async with asyncio.TaskGroup() as group:
            for _ in range(load.streams):
                group.create_task(play())
        return ""

    yield drive
