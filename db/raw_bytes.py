"""How recorded bytes are kept: cut at a limit, with a flag, and compressed with zstd.

It knows nothing of what the bytes say.
"""

import threading
from typing import NamedTuple

import zstandard

from db.read_times import ReadTimes
from db.tables.sessions import RawRow
from db.vocabulary import RawKind

CAP_BYTES = 8 * 1024 * 1024
"""The most that is kept of one request, response, log chunk or scrape."""

_LEVEL = 3
_OF_THREAD = threading.local()

_NO_READS = ReadTimes()


class KeptBytes(NamedTuple):
    content: bytes
    size_bytes: int
    is_capped: bool


def keep(data: bytes, *, cap_bytes: int = CAP_BYTES) -> KeptBytes:
    """`data` compressed, at most its first `cap_bytes`; `size_bytes` counts what there was."""
    return KeptBytes(compress(data[:cap_bytes]), len(data), len(data) > cap_bytes)


def compress(data: bytes) -> bytes:
    """Each thread has a compressor of its own: one cannot be shared, and making one takes long."""
    if (compressor := getattr(_OF_THREAD, "compressor", None)) is None:
        compressor = _OF_THREAD.compressor = zstandard.ZstdCompressor(level=_LEVEL)
    compressed: bytes = compressor.compress(data)
    return compressed


def decompress(content: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompress(content)


def raw_row(
    run_id: int,
    kind: RawKind,
    data: bytes,
    *,
    at_us: int,
    service: str | None = None,
    turn_id: int | None = None,
    reads: ReadTimes = _NO_READS,
    cap_bytes: int = CAP_BYTES,
) -> RawRow:
    """The row that keeps `data`; read times are rounded to microseconds."""
    kept = keep(data, cap_bytes=cap_bytes)
    return RawRow(
        run_id=run_id,
        turn_id=turn_id,
        kind=kind,
        service=service,
        at_us=at_us,
        reads=rounded_reads(reads),
        **kept._asdict(),
    )


def rounded_reads(reads: ReadTimes) -> list[list[float]]:
    """As JSON keeps them: [seconds to the microsecond, bytes]."""
    return [[round(at_s, 6), so_far_bytes] for at_s, so_far_bytes in reads.pairs()]
