"""The prefill side: device pool, prefix cache, host mirror, and the forward pass of one prompt.

It knows prompts and pages; queues, transfers and decoding are others' matters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runner.testbed.cache_metrics import CacheMetrics
from runner.testbed.engine_metrics import EngineMetrics
from runner.testbed.host_pool import HostPool, PageCopy, host_index_page_bytes
from runner.testbed.index_audit import PrefillAudit
from runner.testbed.index_keys import PAGE_TOKENS, make_index_keys
from runner.testbed.kv_pool import PagePool, zeroed_on
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.load_back import LayerGate, LoadBack, NothingToLoad, SteppedLoadBack
from runner.testbed.model import FusedModel
from runner.testbed.page_numbers import FreePages
from runner.testbed.paged_forward import prefill
from runner.testbed.radix_cache import Lease, RadixCache
from runner.testbed.stream_load_back import StreamLoadBack
from runner.testbed.work_clock import StepCosts, WorkClock

Clock = Callable[[], float]


class PrefillInstance:
    """`acquire` a lease, `run` the prompt, `release` the lease once its pages were taken over."""

    def __init__(
        self,
        model: FusedModel,
        options: LaunchOptions,
        metrics: CacheMetrics,
        clock: Clock,
        *,
        audit_metrics: EngineMetrics,
    ) -> None:
        self._model = model
        self._metrics = metrics
        self._clock = clock
        self._topk = options.index_topk
        max_pages = -(-options.context_length // PAGE_TOKENS)
        index_keys = make_index_keys(options.index_k_dtype, max_pages)
        self.pool = PagePool(
            options.pages, model.config, index_keys, allocate=zeroed_on(model.device)
        )
        self.host = self._make_host(options) if options.enable_hierarchical_cache else None
        self._free = FreePages(options.pages)
        self._free_host = FreePages(options.host_pages) if self.host else None
        self.cache = RadixCache(self._free, self._free_host)
        self._work_clock, self._costs = WorkClock(), StepCosts()
        self._load_back = self._make_load_back(options)
        self._audit = (
            PrefillAudit(self.pool, self.host, audit_metrics) if options.index_audit else None
        )

    def acquire(self, tokens: Sequence[int]) -> Lease | None:
        """None while the pool has too few pages that can be freed."""
        started_s = self._clock()
        lease = self.cache.acquire(tokens)
        seconds = self._clock() - started_s
        self._metrics.evicted(so_far=self.cache.evicted_tokens, seconds=seconds)
        return lease

    def run(self, tokens: Sequence[int], lease: Lease) -> int:
        """Load back, compute, insert, back up; returns the first token of the answer."""
        gate = self._start_load(lease.loads)
        cached_pages = lease.page_table[: len(lease.nodes)]
        layer_us = self._costs.layer(len(tokens) - lease.cached_tokens)
        self._work_clock.spend(self._costs.schedule_us)

        def before_layer(layer: int) -> None:
            self._work_clock.spend(layer_us if layer else 0.0)
            gate.wait_until(layer)
            if self._audit is not None:
                self._audit.read(layer, cached_pages)

        token = prefill(
            self._model,
            self.pool,
            tokens=tokens,
            cached=lease.cached_tokens,
            page_table=lease.page_table,
            before_layer=before_layer,
            topk=self._topk,
        )
        self._spend(layer_us)
        self._note_load(lease.loads)
        n_cached = len(lease.nodes)
        to_back_up = self.cache.insert(tokens, lease)
        if self._audit is not None:
            self._audit.computed(lease.page_table[n_cached : len(lease.nodes)])
        self._back_up(to_back_up)
        return token

    def decoded(self) -> None:
        """The same device has done a decode step meanwhile."""
        self._spend(self._costs.decode_us)

    def rest(self) -> None:
        """There is nothing to compute: what is under way arrives."""
        if self._load_back is not None:
            self._load_back.finish()

    def _spend(self, us: float) -> None:
        self._work_clock.spend(us)
        if self._load_back is not None:
            self._load_back.poll()

    def _start_load(self, copies: list[PageCopy]) -> LayerGate:
        if self._load_back is None or not copies:
            return NothingToLoad()
        if self._audit is not None:
            self._audit.loading(copies)
        return self._load_back.start(copies)

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
            if self._audit is not None:
                self._audit.backed_up(copies)
            n_pages = len(copies)
            self._metrics.backed_up(n_pages=n_pages, n_bytes=n_pages * self.host.copied_page_bytes)

    def release(self, lease: Lease) -> None:
        self.cache.release(lease)

    def report_audit(self) -> None:
        """Bring the audit's metrics up to date."""
        if self._audit is not None:
            self._audit.report()

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

    def _make_load_back(self, options: LaunchOptions) -> LoadBack | None:
        if self.host is None:
            return None
        waits_for_index = options.load_back_gate == "all"
        if self.pool.kv.is_cuda:
            return StreamLoadBack(
                self.host,
                self._free,
                self._metrics,
                waits_for_index=waits_for_index,
                index_mb_per_s=options.index_copy_mb_per_s,
            )
        return SteppedLoadBack(
            self.host,
            self._free,
            self._work_clock,
            self._metrics,
            waits_for_index=waits_for_index,
            index_mb_per_s=options.index_copy_mb_per_s,
        )
