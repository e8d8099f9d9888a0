"""An httpx client over our own transport, and answers that a raw server gives it."""

import httpx

from runner.sessions.stream_transport import StreamTransport
from tests.runner.sessions.raw_server import Peer, raw_server

OK = b"HTTP/1.1 200 OK\r\n"
HELLO = OK + b"content-length: 5\r\n\r\nhello"
CHUNKED = OK + b"transfer-encoding: chunked\r\n\r\n"


def client(*, keepalive_s: float = 2.0, read_s: float | None = 20) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=StreamTransport(keepalive_s=keepalive_s),
        timeout=httpx.Timeout(20, read=read_s),
        trust_env=False,
    )


async def get(answer: bytes, *, method: str = "GET", times: int = 1) -> tuple[httpx.Response, int]:
    """The last answer, and how many connections it took."""

    async def say(peer: Peer) -> None:
        peer.write(answer)

    async with raw_server(say) as server, client() as http:
        for _ in range(times):
            response = await http.request(method, server.url)
    return response, server.connections
