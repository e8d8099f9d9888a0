"""A page ends at its deadline and its limit, whatever the server sends."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import httpx
import pytest

from runner.control.capped_page import NO_PAGE, fetch_page

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n"
Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]


async def _byte_by_byte(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD)
    while not writer.is_closing():
        writer.write(b"x")
        await asyncio.sleep(0.02)


async def _flood(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD)
    while not writer.is_closing():
        writer.write(b"x" * 65_536)
        await writer.drain()


async def _silence(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


async def _whole(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"hello")


async def _serving(answer: Answer) -> AsyncIterator[str]:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await answer(writer)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/page"
    finally:
        server.close()


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False) as client:
        yield client


async def test_a_whole_page_is_read(http: httpx.AsyncClient) -> None:
    async for url in _serving(_whole):
        page = await fetch_page(http, url, deadline_s=10)

        assert (page.status, page.text, page.is_cut) == (200, "hello", False)


@pytest.mark.parametrize("answer", [_byte_by_byte, _silence])
async def test_a_page_that_does_not_end_is_given_up(
    http: httpx.AsyncClient, answer: Answer
) -> None:
    async for url in _serving(answer):
        with pytest.raises(TimeoutError):
            await fetch_page(http, url, deadline_s=0.5)


async def test_a_flood_is_cut(http: httpx.AsyncClient) -> None:
    async for url in _serving(_flood):
        page = await fetch_page(http, url, deadline_s=20, cap_bytes=100_000)

        assert (len(page.content), page.is_cut) == (100_000, True)


async def test_no_server_at_all_is_no_page(http: httpx.AsyncClient) -> None:
    with pytest.raises(NO_PAGE):
        await fetch_page(http, "http://127.0.0.1:9/", deadline_s=5)
