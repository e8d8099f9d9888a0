"""A server on a real socket that does exactly what a test tells it, well-behaved or not."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"


@dataclass(slots=True)
class Peer:
    """The server's side of one connection, with the request that came."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    head: bytes
    body: bytes

    def write(self, data: bytes) -> None:
        self.writer.write(data)

    def write_chunk(self, data: bytes) -> None:
        self.writer.write(b"%x\r\n%b\r\n" % (len(data), data))

    async def until_closed(self) -> None:
        """Returns when the client has closed its side."""
        try:
            await self.reader.read()
        except ConnectionError:
            return

    def reset(self) -> None:
        """Ends the connection with RST: no goodbye, no rest of the data."""
        connection = self.writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


@dataclass(slots=True)
class RawServer:
    url: str
    connections: int = 0
    requests: int = 0
    closed_by_client: asyncio.Event = field(default_factory=asyncio.Event)


@asynccontextmanager
async def raw_server(answer: Callable[[Peer], Awaitable[None]]) -> AsyncIterator[RawServer]:
    """Serves on a free port of 127.0.0.1; `answer` is called for each request."""
    served = RawServer(url="")
    tasks: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.connections += 1
        try:
            while (peer := await _request(reader, writer)) is not None:
                served.requests += 1
                await answer(peer)
        except ConnectionError:
            pass
        finally:
            served.closed_by_client.set()
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(connected(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    served.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield served
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Peer | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    lines = head.lower().split(b"\r\n")
    lengths = [line.split(b":")[1] for line in lines if line.startswith(b"content-length:")]
    body = await reader.readexactly(int(lengths[0])) if lengths else b""
    return Peer(reader, writer, head, body)
