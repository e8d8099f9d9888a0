"""Device pools as raw bytes: pages of keys and values, and pages of index keys, for every layer.

It knows bytes and page numbers; who owns a page is the radix cache's and the engines' matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from runner.testbed.index_keys import PAGE_TOKENS, IndexKeyFormat
from runner.testbed.model import ModelConfig, Projection

Allocate = Callable[[int], Tensor]
NOBODY = 0
_OWNER_BYTES = 8


def zeroed_on(device: torch.device) -> Allocate:
    """Memory of this process alone, on this device."""
    return lambda n_bytes: torch.zeros(n_bytes, dtype=torch.uint8, device=device)


zeroed = zeroed_on(torch.device("cpu"))


class PagePool:
    """`kv[layer, page]` and `index[layer, page]` are uint8; all reads and writes go through them.

    Pages start as zeros and keep the bytes of their last use when they are given to another owner.
    `owners` is one number per slot (a run of pages), for those who want to know whose it is.
    `allocate` gives the memory, so that two processes can have one pool.
    """

    def __init__(
        self,
        n_pages: int,
        config: ModelConfig,
        index_keys: IndexKeyFormat,
        *,
        n_slots: int = 1,
        allocate: Allocate = zeroed,
    ) -> None:
        self.n_pages = n_pages
        self.index_keys = index_keys
        n_kv = config.n_layers * n_pages * PAGE_TOKENS * config.kv_bytes_per_token
        n_index = config.n_layers * n_pages * index_keys.page_bytes
        memory = allocate(n_slots * _OWNER_BYTES + n_kv + n_index)
        sizes = [n_slots * _OWNER_BYTES, n_kv, n_index]
        owners, kv, index = torch.split_with_sizes(memory, sizes)
        self.owners: Tensor = owners.view(torch.int64)
        self.kv: Tensor = kv.view(config.n_layers, n_pages, -1)
        self.index: Tensor = index.view(config.n_layers, n_pages, -1)
        self._kv_tokens = self.kv.view(torch.bfloat16).view(
            config.n_layers, n_pages * PAGE_TOKENS, 2, config.n_heads, config.head_dim
        )

    @property
    def n_bytes(self) -> int:
        return self.kv.numel() + self.index.numel()

    @property
    def page_bytes(self) -> int:
        """One page's keys, values and index keys, in all layers."""
        return self.n_bytes // self.n_pages

    def write(self, layer: int, slots: Tensor, projection: Projection) -> None:
        """Store keys, values and index keys of T tokens at (T,) slots (page * 64 + offset)."""
        tokens = self._kv_tokens[layer]
        tokens[slots, 0] = projection.key.bfloat16()
        tokens[slots, 1] = projection.value.bfloat16()
        where = (slots // PAGE_TOKENS, slots % PAGE_TOKENS)
        self.index_keys.write(self.index[layer], where, projection.index_key)

    def read_kv(self, layer: int, slots: Tensor) -> Tensor:
        """(n,) slots -> (n, 2, H, Dh) fp32 keys and values."""
        return self._kv_tokens[layer].index_select(0, slots).float()

    def copy_kv(self, source: PagePool, source_pages: Sequence[int], pages: Sequence[int]) -> None:
        """Take over keys and values of other pages, as they are now, in all layers."""
        self.kv[:, list(pages)] = source.kv[:, list(source_pages)]

    def copy_index(
        self, source: PagePool, source_pages: Sequence[int], pages: Sequence[int]
    ) -> None:
        """Take over index keys of other pages byte for byte, as they are now, in all layers."""
        self.index[:, list(pages)] = source.index[:, list(source_pages)]
