"""Device pools as raw bytes: pages of keys and values, and pages of index keys, for every layer.

It knows bytes and page numbers; who owns a page is the radix cache's and the engine's matter.
"""

from __future__ import annotations

import torch
from torch import Tensor

from runner.testbed.index_keys import PAGE_TOKENS, IndexKeyFormat
from runner.testbed.model import ModelConfig, Projection


class PagePool:
    """`kv[layer, page]` and `index[layer, page]` are uint8; all reads and writes go through them.

    Pages start as zeros and keep the bytes of their last use when they are given to another owner.
    """

    def __init__(self, n_pages: int, config: ModelConfig, index_keys: IndexKeyFormat) -> None:
        self.n_pages = n_pages
        self.index_keys = index_keys
        kv_page_bytes = PAGE_TOKENS * config.kv_bytes_per_token
        self.kv = torch.zeros(config.n_layers, n_pages, kv_page_bytes, dtype=torch.uint8)
        self.index = torch.zeros(config.n_layers, n_pages, index_keys.page_bytes, dtype=torch.uint8)
        self._kv_tokens = self.kv.view(torch.bfloat16).view(
            config.n_layers, n_pages * PAGE_TOKENS, 2, config.n_heads, config.head_dim
        )

    @property
    def n_bytes(self) -> int:
        return self.kv.numel() + self.index.numel()

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

    def copy_pages(self, source: PagePool, source_pages: list[int], pages: list[int]) -> None:
        """Take over other pages byte for byte, as they are now, in all layers."""
        self.kv[:, pages] = source.kv[:, source_pages]
        self.index[:, pages] = source.index[:, source_pages]
