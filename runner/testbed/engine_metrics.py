"""When the engines write which metric.

Gauges are a snapshot that an engine publishes (as in SGLang: with every prefill batch, every
`decode_log_interval` decode steps, and when idle), so they freeze when the engine does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runner.testbed.generation import CachedTokens
from runner.testbed.index_keys import PAGE_TOKENS
from runner.testbed.metric_catalogue import ALWAYS, WITH_HICACHE, Scope
from runner.testbed.metrics import Registry

_CACHE_TYPE = "UnifiedRadixCache"
_MB = 1e6
_GIB = 1024**3


@dataclass(frozen=True, slots=True)
class PoolGauges:
    """How full a device pool is, in tokens."""

    used: int
    evictable: int
    total: int

    @property
    def usage(self) -> float:
        """Share of the pool that nothing can be evicted from."""
        return self.used / self.total

    def values(self) -> dict[str, float]:
        return {
            "token_usage": self.usage,
            "num_used_tokens": self.used,
            "kv_used_tokens": self.used,
            "kv_evictable_tokens": self.evictable,
            "kv_available_tokens": self.total - self.used - self.evictable,
            "max_total_num_tokens": self.total,
            "page_size": PAGE_TOKENS,
            "num_pages": self.total // PAGE_TOKENS,
        }


@dataclass(frozen=True, slots=True)
class PrefillGauges:
    """One snapshot of the prefill side's queues and pools."""

    bootstrap: int
    waiting: int
    waiting_tokens: int
    inflight: int
    pool: PoolGauges
    host_used_tokens: int
    host_total_tokens: int

    def values(self) -> dict[str, float]:
        return {
            **self.pool.values(),
            "num_queue_reqs": self.waiting,
            "num_prefill_bootstrap_queue_reqs": self.bootstrap,
            "num_prefill_inflight_queue_reqs": self.inflight,
            "hicache_host_used_tokens": self.host_used_tokens,
            "hicache_host_total_tokens": self.host_total_tokens,
        }


@dataclass(frozen=True, slots=True)
class DecodeGauges:
    """One snapshot of the decode side's queues; `tokens` are those of running sequences."""

    running: int
    prealloc: int
    transferring: int
    tokens: int
    pending_tokens: int
    total_tokens: int

    @property
    def usage(self) -> float:
        return self.tokens / self.total_tokens

    @property
    def pending_usage(self) -> float:
        """Share of the pool that waits for pages to arrive."""
        return self.pending_tokens / self.total_tokens

    def values(self) -> dict[str, float]:
        return {
            "num_running_reqs": self.running,
            "num_decode_prealloc_queue_reqs": self.prealloc,
            "num_decode_transfer_queue_reqs": self.transferring,
            "pending_prealloc_token_usage": self.pending_usage,
            "decode_sum_seq_lens": self.tokens,
        }

    def pool_values(self) -> dict[str, float]:
        """Where the decode pool is the only one of its process."""
        return PoolGauges(self.tokens, 0, self.total_tokens).values()


class EngineMetrics:
    """The engines' view of the registry."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry

    def started(self, *, context_length: int, weight_bytes: int, pool_bytes: int) -> None:
        """What never changes."""
        self.registry.set("context_len", context_length)
        self.registry.set("weight_memory_usage_gb", weight_bytes / _GIB)
        self.registry.set("kv_cache_memory_usage_gb", pool_bytes / _GIB)

    def queued(self, seconds: float) -> None:
        self.registry.observe("queue_time_seconds", seconds)

    def slot_found(self, seconds: float) -> None:
        self.registry.observe("kv_transfer_alloc_ms", seconds * 1e3)

    def bootstrapped(self, seconds: float) -> None:
        self.registry.observe("kv_transfer_bootstrap_ms", seconds * 1e3)

    def transferred(self, *, n_bytes: int, seconds: float) -> None:
        registry = self.registry
        registry.observe("kv_transfer_latency_ms", seconds * 1e3)
        registry.observe("kv_transfer_total_mb", n_bytes / _MB)
        if seconds > 0:
            registry.observe("kv_transfer_speed_gb_s", n_bytes / seconds / 1e9)

    def prefilled(self, *, computed: int, cached: CachedTokens) -> None:
        registry = self.registry
        registry.add("realtime_tokens_total", computed, mode="prefill_compute")
        registry.add("realtime_tokens_total", cached.total, mode="prefill_cache")
        registry.add("prefill_effective_tokens_total", computed, mode="input")
        registry.add("prefill_effective_tokens_total", cached.device, mode="device_hit")
        registry.add("prefill_effective_tokens_total", cached.host, mode="host_hit")
        registry.add("cuda_graph_passes_total", mode="prefill_none")
        registry.set("cache_hit_rate", cached.total / (computed + cached.total))

    def decoded(self, n_tokens: int) -> None:
        self.registry.add("realtime_tokens_total", n_tokens, mode="decode")
        self.registry.add("cuda_graph_passes_total", mode="decode_none")

    def decode_reported(self) -> None:
        self.registry.set("cache_hit_rate", 0)  # as SGLang does: sample the counters instead

    def finished(self, *, prompt: int, generated: int, cached: CachedTokens, stream: bool) -> None:
        registry = self.registry
        registry.add("prompt_tokens_total", prompt)
        registry.add("generation_tokens_total", generated)
        registry.add("num_requests_total", is_streaming=str(stream))
        registry.observe("prompt_tokens_histogram", prompt)
        registry.observe("uncached_prompt_tokens_histogram", prompt - cached.total)
        registry.observe("generation_tokens_histogram", generated)
        registry.add("cached_tokens_total", cached.device, cache_source="device")
        registry.add("cached_tokens_total", cached.host, cache_source="host")
        registry.add("cached_tokens_total", cached.total, cache_source="total")

    def transfer_failed(self) -> None:
        self.registry.add("num_transfer_failed_reqs_total")

    def bootstrap_failed(self) -> None:
        self.registry.add("num_bootstrap_failed_reqs_total")

    def aborted(self) -> None:
        self.registry.add("num_aborted_requests_total")

    def late_writes(self, count: int) -> None:
        if count:
            self.registry.add("testbed:late_page_writes_total", count)

    def audited(self, where: str, *, pages: int, differing: int) -> None:
        """Index-key pages compared with what was computed; `where`: host, device or decode."""
        self.registry.add("testbed:audited_index_pages_total", pages, where=where)
        self.registry.add("testbed:differing_index_pages_total", differing, where=where)

    def publish(self, gauges: Mapping[str, float]) -> None:
        """Those without a host mirror are left out where there is none."""
        for name, value in gauges.items():
            if self.registry.has(name):
                self.registry.set(name, value)


def make_registry(model_name: str, *, hicache: bool, engine_type: str = "unified") -> Registry:
    """All families of one server. `engine_type`: unified, prefill or decode."""
    api = {"model_name": model_name, "engine_type": engine_type}
    scheduler = {**api, "tp_rank": "0", "pp_rank": "0", "moe_ep_rank": "0"}
    scopes = {
        Scope.API: api,
        Scope.SCHEDULER: scheduler,
        Scope.CACHE: {**scheduler, "cache_type": _CACHE_TYPE},
        Scope.HTTP: {},
    }
    return Registry((*ALWAYS, *(WITH_HICACHE if hicache else ())), scopes)
