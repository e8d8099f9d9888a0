"""Undoes gzip and deflate of a response piece by piece; what it cannot undo it hands on as it is.

Encodings are refused in the request, so that read times show the server's own pace. A gateway may
compress all the same, and then the record must still be readable.
"""

import zlib
from typing import Protocol


class ContentDecoder(Protocol):
    def feed(self, data: bytes, *, at_most: int) -> bytes:
        """The next piece, decoded; no more than `at_most` bytes of it."""


def content_decoder(encoding: str) -> ContentDecoder | None:
    """The decoder for a `content-encoding` header; None where there is nothing to undo."""
    if encoding.strip().lower() in ("gzip", "x-gzip", "deflate"):
        return _Inflate()
    return None


class _Inflate:
    """Inflates gzip and zlib frames. After the first broken byte it passes on what comes."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32)  # 32: reads either kind of header
        self._is_broken = False

    def feed(self, data: bytes, *, at_most: int) -> bytes:
        if self._is_broken:
            return data[:at_most]
        try:
            return self._inflate.decompress(data, max(1, at_most))
        except zlib.error:
            self._is_broken = True
            return data[:at_most]
