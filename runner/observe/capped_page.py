"""Fetches a page with a deadline and a limit, whatever the server sends."""

import asyncio
from dataclasses import dataclass

import httpx

PAGE_CAP_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Page:
    """`content` is at most the limit; `is_cut` where there was more."""

    status: int
    content_type: str
    content: bytes
    is_cut: bool = False


async def fetch_page(
    http: httpx.AsyncClient, url: str, *, deadline_s: float, cap_bytes: int = PAGE_CAP_BYTES
) -> Page:
    """Raises TimeoutError at the deadline, httpx.HTTPError, httpx.InvalidURL, OSError."""
    async with (
        asyncio.timeout(deadline_s),
        http.stream("GET", url, timeout=httpx.Timeout(None)) as answer,
    ):
        content = bytearray()
        async for piece in answer.aiter_bytes():
            content += piece[: cap_bytes - len(content)]
            if len(content) >= cap_bytes:
                break
        content_type = answer.headers.get("content-type", "")
        is_cut = len(content) >= cap_bytes
        return Page(answer.status_code, content_type, bytes(content), is_cut)
