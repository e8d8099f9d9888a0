"""The decode side: a pool with a fixed run of pages per slot, and the batched decode step.

It knows slots and tokens; who gets a slot and when an answer ends is the engine's matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from runner.testbed.index_keys import PAGE_TOKENS, make_index_keys
from runner.testbed.kv_pool import NOBODY, Allocate, PagePool, zeroed_on
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.model import FusedModel
from runner.testbed.page_numbers import FreePages
from runner.testbed.paged_forward import DecodeRow, decode_step


class DecodeInput(NamedTuple):
    """A text of `n_tokens` tokens, all but the newest of them in its slot already."""

    newest_tokens: tuple[int, ...]
    n_tokens: int
    slot: int


class DecodeInstance:
    """`max_running_requests` slots of `context_length` tokens each."""

    def __init__(
        self, model: FusedModel, options: LaunchOptions, *, allocate: Allocate | None = None
    ) -> None:
        self._model = model
        self._topk = options.index_topk
        self._slot_pages = -(-options.context_length // PAGE_TOKENS)
        self.pool = PagePool(
            options.max_running_requests * self._slot_pages,
            model.config,
            make_index_keys(options.index_k_dtype, self._slot_pages),
            n_slots=options.max_running_requests,
            allocate=allocate or zeroed_on(model.device),
        )
        self._slots = FreePages(options.max_running_requests)
        self._lost_every = options.leak_slot_every
        self._n_freed = 0

    @property
    def free_slots(self) -> int:
        return len(self._slots)

    def take_slot(self, *, owner: int) -> int:
        slot = self._slots.take()
        self.pool.owners[slot] = owner
        return slot

    def free_slot(self, slot: int) -> None:
        """The fault `leak_slot_every` forgets some: nobody owns them, nobody can have them."""
        self.pool.owners[slot] = NOBODY
        self._n_freed += 1
        if self._lost_every is None or self._n_freed % self._lost_every:
            self._slots.give_back(slot)

    def pages(self, slot: int, count: int) -> tuple[int, ...]:
        """The first `count` pages of a slot."""
        first = slot * self._slot_pages
        return tuple(range(first, first + count))

    def step(self, inputs: Sequence[DecodeInput]) -> list[int]:
        """The next token of every input; stores what its newest token adds to its slot."""
        rows = [
            DecodeRow(each.newest_tokens, each.n_tokens - 1, each.slot * self._slot_pages)
            for each in inputs
        ]
        return decode_step(self._model, self.pool, rows, topk=self._topk)
