"""The host mirror (HiCache): a second home for pages, and the copies out to it and back.

It knows bytes and page numbers. Whether a host page is as large as a device page is a launch
choice: fault F1 sizes it for fp8 index keys whatever their real type, so that of a bf16 page only
8,448 of 16,384 bytes are kept, and a page that is loaded back keeps its last owner's tail.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from runner.testbed.index_keys import PAGE_TOKENS, Fp8IndexKeys
from runner.testbed.kv_pool import PagePool


class PageCopy(NamedTuple):
    """A pair of page numbers, one in each pool."""

    device: int
    host: int


class HostPool:
    """Mirror of a device pool; `index_page_bytes` may be smaller than there."""

    def __init__(self, n_pages: int, device: PagePool, *, index_page_bytes: int) -> None:
        self.n_pages = n_pages
        self._device = device
        n_layers, _, kv_page_bytes = device.kv.shape
        # Only from pinned memory does a GPU copy while others go on.
        pinned = device.kv.is_cuda
        shapes = ((n_layers, n_pages, n_bytes) for n_bytes in (kv_page_bytes, index_page_bytes))
        self.kv, self.index = (
            torch.zeros(*shape, dtype=torch.uint8, pin_memory=pinned) for shape in shapes
        )
        self._copied_index_bytes = min(index_page_bytes, device.index_keys.page_bytes)

    @property
    def copied_page_bytes(self) -> int:
        """Bytes that a copy of one page moves, in all layers."""
        return int(self.kv.shape[0]) * (self.kv_bytes + self.index_bytes)

    def back_up(self, copies: list[PageCopy]) -> None:
        """Device to host, all layers."""
        if not copies:
            return
        device, host = _columns(copies)
        width = self._copied_index_bytes
        self.kv[:, host] = self._device.kv[:, device].to(self.kv.device)
        self.index[:, host, :width] = self._device.index[:, device, :width].to(self.index.device)

    @property
    def kv_bytes(self) -> int:
        """What a copy of one page's keys and values moves in one layer."""
        return int(self.kv.shape[2])

    @property
    def index_bytes(self) -> int:
        """What a copy of one page's index keys moves in one layer."""
        return self._copied_index_bytes

    def load_kv(self, copy: PageCopy, layer: int) -> None:
        """Keys and values of one page, host to device."""
        self._device.kv[layer, copy.device].copy_(self.kv[layer, copy.host], non_blocking=True)

    def load_index(self, copy: PageCopy, layer: int) -> None:
        """Index keys of one page, host to device, as far as the host has them."""
        width = self._copied_index_bytes
        target = self._device.index[layer, copy.device, :width]
        target.copy_(self.index[layer, copy.host, :width], non_blocking=True)


def host_index_page_bytes(sizing: str, device_page_bytes: int) -> int:
    """`fp8`: 64 * 132 bytes whatever the keys' type (F1); `dtype`: as on the device; `none`: 0."""
    sizes = {"fp8": Fp8IndexKeys.page_bytes, "dtype": device_page_bytes, "none": 0}
    return sizes[sizing]


def index_bytes_per_token(index_page_bytes: int) -> int:
    return index_page_bytes // PAGE_TOKENS


def _columns(copies: list[PageCopy]) -> tuple[list[int], list[int]]:
    return [copy.device for copy in copies], [copy.host for copy in copies]
