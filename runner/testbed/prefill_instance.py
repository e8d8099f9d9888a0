"""The prefill side: device pool, prefix cache, host mirror, and the forward pass of one prompt.

It knows prompts and pages; queues, transfers and decoding are others' matters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runner.testbed.cache_metrics import CacheMetrics
from runner.testbed.host_pool import HostPool, PageCopy, host_index_page_bytes
from runner.testbed.index_keys import PAGE_TOKENS, make_index_keys
from runner.testbed.kv_pool import PagePool
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.model import FusedModel
from runner.testbed.page_numbers import FreePages
from runner.testbed.paged_forward import prefill
from runner.testbed.radix_cache import Lease, RadixCache

Clock = Callable[[], float]


class LayerwiseLoad:
    """Load-back of one request: layer i's pages are copied when the forward pass reaches layer i.

    The gate covers keys, values and index keys alike, so nothing is read before it is there.
    """

    def __init__(
        self, host: HostPool | None, copies: list[PageCopy], metrics: CacheMetrics
    ) -> None:
        self._host = host
        self._copies = copies
        self._metrics = metrics

    def wait_until(self, layer: int) -> None:
        if self._host is not None and self._copies:
            with self._metrics.timed("load_back_duration_seconds"):
                self._host.load_back(self._copies, layer)


class PrefillInstance:
    """`acquire` a lease, `run` the prompt, `release` the lease once its pages were taken over."""

    def __init__(
        self, model: FusedModel, options: LaunchOptions, metrics: CacheMetrics, clock: Clock
    ) -> None:
        self._model = model
        self._metrics = metrics
        self._clock = clock
        self._topk = options.index_topk
        max_pages = -(-options.context_length // PAGE_TOKENS)
        index_keys = make_index_keys(options.index_k_dtype, max_pages)
        self.pool = PagePool(options.pages, model.config, index_keys)
        self.host = self._make_host(options) if options.enable_hierarchical_cache else None
        self._free = FreePages(options.pages)
        self._free_host = FreePages(options.host_pages) if self.host else None
        self.cache = RadixCache(self._free, self._free_host)

    def acquire(self, tokens: Sequence[int]) -> Lease | None:
        """None while the pool has too few pages that can be freed."""
        started_s = self._clock()
        lease = self.cache.acquire(tokens)
        seconds = self._clock() - started_s
        self._metrics.evicted(so_far=self.cache.evicted_tokens, seconds=seconds)
        return lease

    def run(self, tokens: Sequence[int], lease: Lease) -> int:
        """Load back, compute, insert, back up; returns the first token of the answer."""
        gate = LayerwiseLoad(self.host, lease.loads, self._metrics)
        token = prefill(
            self._model,
            self.pool,
            tokens=tokens,
            cached=lease.cached_tokens,
            page_table=lease.page_table,
            before_layer=gate.wait_until,
            topk=self._topk,
        )
        self._note_load(lease.loads)
        self._back_up(self.cache.insert(tokens, lease))
        return token

    def _note_load(self, copies: list[PageCopy]) -> None:
        if self.host is not None and copies:
            n_pages = len(copies)
            self._metrics.loaded_back(
                n_pages=n_pages, n_bytes=n_pages * self.host.copied_page_bytes
            )

    def _back_up(self, copies: list[PageCopy]) -> None:
        self._metrics.dropped(so_far=self.cache.dropped_tokens)
        if self.host is not None and copies:
            with self._metrics.timed("hicache_backup_duration_seconds"):
                self.host.back_up(copies)
            n_pages = len(copies)
            self._metrics.backed_up(n_pages=n_pages, n_bytes=n_pages * self.host.copied_page_bytes)

    def release(self, lease: Lease) -> None:
        self.cache.release(lease)

    @property
    def used_tokens(self) -> int:
        """Tokens in pages that no eviction can free."""
        in_use = (self._free.total - len(self._free)) * PAGE_TOKENS
        return in_use - self.evictable_tokens

    @property
    def evictable_tokens(self) -> int:
        """Tokens in cached pages that no request holds."""
        return self.cache.device_pages_evictable * PAGE_TOKENS

    @property
    def host_used_tokens(self) -> int:
        return self.cache.host_pages_used * PAGE_TOKENS

    def _make_host(self, options: LaunchOptions) -> HostPool:
        page_bytes = host_index_page_bytes(
            options.host_index_bytes, self.pool.index_keys.page_bytes
        )
        return HostPool(options.host_pages, self.pool, index_page_bytes=page_bytes)
