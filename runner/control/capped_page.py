"""Asks a server for one page, with a deadline and a limit that hold whatever it sends.

httpx's own time-outs start anew with every byte, so that a byte a second would hold it for ever.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

PAGE_CAP_BYTES = 32 * 1024 * 1024
NO_PAGE = (TimeoutError, httpx.HTTPError, httpx.InvalidURL, OSError)


@dataclass(frozen=True, slots=True)
class Page:
    """`content` is at most the limit; `is_cut` where there was more. `date`: as the server says."""

    status: int
    content_type: str
    content: bytes
    is_cut: bool = False
    date: str | None = None

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", errors="replace")


async def fetch_page(
    http: httpx.AsyncClient,
    url: str,
    *,
    deadline_s: float,
    method: str = "GET",
    json: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    cap_bytes: int = PAGE_CAP_BYTES,
) -> Page:
    """Raises what `NO_PAGE` names; TimeoutError at the deadline."""
    content = bytearray()
    async with (
        asyncio.timeout(deadline_s),
        http.stream(
            method, url, json=json, headers=dict(headers or {}), timeout=httpx.Timeout(None)
        ) as answer,
    ):
        async for piece in answer.aiter_bytes():
            content += piece[: cap_bytes - len(content)]
            if len(content) >= cap_bytes:
                break
        return Page(
            status=answer.status_code,
            content_type=answer.headers.get("content-type", ""),
            content=bytes(content),
            is_cut=len(content) >= cap_bytes,
            date=answer.headers.get("date"),
        )


def said_by(error: BaseException, *, deadline_s: float) -> str:
    """What went wrong, in a few words."""
    if isinstance(error, TimeoutError):
        return f"no answer within {round(deadline_s, 1):g} s"
    return f"{type(error).__name__} {error}".strip()
