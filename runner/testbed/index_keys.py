"""How index keys lie in the bytes of a page, and how queries are scored against those bytes.

A page is 64 tokens of 128 dimensions. fp8: 64*128 e4m3 values, then 64 fp32 scales, 132 bytes a
token. bf16: the values alone, 256 bytes a token. It knows one page's bytes, not which pages exist.
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

PAGE_TOKENS = 64
INDEX_DIM = 128
_VALUES = PAGE_TOKENS * INDEX_DIM
_E4M3_MAX = 448.0


class IndexKeyFormat(Protocol):
    """Bytes of one layer's pages are always (pages, page_bytes) uint8."""

    name: str
    page_bytes: int

    def write(self, pages: Tensor, where: tuple[Tensor, Tensor], keys: Tensor) -> None:
        """Store (T, 128) keys at (page, offset inside the page), (T,) each."""

    def read(self, pages: Tensor) -> Tensor:
        """All keys of (P, page_bytes) pages -> (P * 64, 128) fp32."""

    def dot(self, queries: Tensor, pages: Tensor, out: Tensor) -> None:
        """(M, 128) queries times the first n keys of (P, page_bytes) pages -> out (M, n)."""


class Bf16IndexKeys:
    """64 * 128 bf16 values a page."""

    name = "bf16"
    page_bytes = _VALUES * 2

    def __init__(self, max_pages: int) -> None:
        self._floats = torch.zeros(max_pages, _VALUES)

    def write(self, pages: Tensor, where: tuple[Tensor, Tensor], keys: Tensor) -> None:
        pages.view(torch.bfloat16).view(-1, PAGE_TOKENS, INDEX_DIM)[where] = keys.bfloat16()

    def read(self, pages: Tensor) -> Tensor:
        return pages.view(torch.bfloat16).float().view(-1, INDEX_DIM)

    def dot(self, queries: Tensor, pages: Tensor, out: Tensor) -> None:
        floats = self._floats[: pages.shape[0]]
        floats.copy_(pages.view(torch.bfloat16))
        keys = floats.view(-1, INDEX_DIM)[: out.shape[1]]  # (n, 128)
        torch.mm(queries, keys.t(), out=out)


class Fp8IndexKeys:
    """64 * 128 e4m3 values a page, then one fp32 scale a token (amax / 448)."""

    name = "fp8"
    page_bytes = _VALUES + PAGE_TOKENS * 4

    def __init__(self, max_pages: int) -> None:
        self._halves = torch.zeros(max_pages, _VALUES, dtype=torch.int16)
        self._floats = torch.zeros(max_pages, _VALUES)

    def write(self, pages: Tensor, where: tuple[Tensor, Tensor], keys: Tensor) -> None:
        scale = keys.abs().amax(-1, keepdim=True).clamp_min(1e-6) / _E4M3_MAX  # (T, 1)
        values = pages[:, :_VALUES].view(-1, PAGE_TOKENS, INDEX_DIM)
        values[where] = (keys / scale).to(torch.float8_e4m3fn).view(torch.uint8)
        _scales(pages)[where] = scale[:, 0]

    def read(self, pages: Tensor) -> Tensor:
        values = pages[:, :_VALUES].view(torch.float8_e4m3fn).float()
        return (values.view(-1, PAGE_TOKENS, INDEX_DIM) * _scales(pages)[..., None]).flatten(0, 1)

    def dot(self, queries: Tensor, pages: Tensor, out: Tensor) -> None:
        n_pages, n_tokens = pages.shape[0], out.shape[1]
        floats = self._floats[:n_pages]
        expand_e4m3(pages[:, :_VALUES], self._halves[:n_pages], floats)
        keys = floats.view(-1, INDEX_DIM)[:n_tokens]  # (n, 128), still without their scales
        torch.mm(queries, keys.t(), out=out)
        out *= _scales(pages).reshape(-1)[:n_tokens] * E4M3_EXPANSION


E4M3_EXPANSION = 256.0


def expand_e4m3(values: Tensor, halves: Tensor, out: Tensor) -> None:
    """(P, n) e4m3 bytes -> fp32 values divided by `E4M3_EXPANSION`; `halves` is int16 scratch.

    torch's own conversion is about eight times slower on a CPU. Sign-extended, shifted by 7 and
    with bit 14 cleared, the byte s.eeee.mmm is the fp16 number s.0eeee.mmm0000000, which has the
    same value but for the difference of the two exponent biases (15 - 7).
    """
    halves.copy_(values.view(torch.int8))
    halves.bitwise_left_shift_(7).bitwise_and_(~(1 << 14))
    out.copy_(halves.view(torch.float16))


def make_index_keys(name: str, max_pages: int) -> IndexKeyFormat:
    """The format called `name` (fp8 or bf16), able to score `max_pages` pages at once."""
    formats: dict[str, type[Bf16IndexKeys] | type[Fp8IndexKeys]] = {
        "bf16": Bf16IndexKeys,
        "fp8": Fp8IndexKeys,
    }
    return formats[name](max_pages)


def _scales(pages: Tensor) -> Tensor:
    """The (P, 64) scales behind the values of fp8 pages, as a view."""
    return pages[:, _VALUES:].view(torch.float32)
