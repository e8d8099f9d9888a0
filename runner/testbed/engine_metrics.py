"""Which metrics the testbed has, and when the engine writes them.

Gauges are a snapshot that the engine publishes (as in SGLang: with every prefill batch, every
`decode_log_interval` decode steps, and when idle), so they freeze when the engine does.
"""

from __future__ import annotations

from dataclasses import dataclass

from runner.testbed.generation import CachedTokens
from runner.testbed.metrics import Registry

_GAUGES = {
    "num_running_reqs": "Requests in the decode batch.",
    "num_queue_reqs": "Requests in the waiting queue.",
    "num_decode_prealloc_queue_reqs": "Requests that wait for a decode slot.",
    "num_decode_transfer_queue_reqs": "Requests whose pages are on their way to decode.",
    "num_prefill_inflight_queue_reqs": "Requests whose pages are being sent by prefill.",
    "num_prefill_bootstrap_queue_reqs": "Requests that wait for decode's page indices.",
    "token_usage": "Share of the device pool's tokens in use.",
    "num_used_tokens": "Tokens of the device pool in use.",
    "kv_used_tokens": "Tokens of the device pool in use.",
    "kv_evictable_tokens": "Cached tokens of the device pool that may be evicted.",
    "kv_available_tokens": "Free tokens of the device pool.",
    "max_total_num_tokens": "Tokens of the device pool.",
    "gen_throughput": "Generated tokens per second.",
    "cache_hit_rate": "Cached share of the last prefill batch.",
    "hicache_host_used_tokens": "Tokens in the host pool in use.",
    "hicache_host_total_tokens": "Tokens of the host pool.",
    "http_requests_active": "HTTP requests being answered.",
}
_COUNTERS = {
    "realtime_tokens_total": "Tokens computed or found cached, as it happens.",
    "prompt_tokens_total": "Prompt tokens of finished requests.",
    "generation_tokens_total": "Generated tokens of finished requests.",
    "num_requests_total": "Finished requests.",
    "cached_tokens_total": "Cached prompt tokens of finished requests.",
    "load_back_tokens_total": "Tokens copied back from the host pool.",
    "evicted_tokens_total": "Tokens evicted from the device pool.",
    "num_transfer_failed_reqs_total": "Requests whose page transfer failed.",
    "num_bootstrap_failed_reqs_total": "Requests that failed before their transfer began.",
    "num_aborted_requests_total": "Abort calls, client disconnects included.",
    "http_requests_total": "HTTP requests received.",
    "http_responses_total": "HTTP responses sent.",
}
_HISTOGRAMS = {
    "time_to_first_token_seconds": "From receipt of a request to its first token.",
    "e2e_request_latency_seconds": "From receipt of a request to its end.",
}


@dataclass(frozen=True, slots=True)
class EngineGauges:
    """One snapshot of the engine's queues and pools."""

    running: int
    waiting: int
    prealloc: int
    transferring: int
    used_tokens: int
    evictable_tokens: int
    total_tokens: int
    decode_tokens: int
    decode_total_tokens: int
    host_used_tokens: int
    host_total_tokens: int

    @property
    def token_usage(self) -> float:
        """Share of the prefill pool that nothing can be evicted from."""
        return self.used_tokens / self.total_tokens

    @property
    def available_tokens(self) -> int:
        return self.total_tokens - self.used_tokens - self.evictable_tokens

    @property
    def decode_usage(self) -> float:
        return self.decode_tokens / self.decode_total_tokens


class EngineMetrics:
    """The engine's view of the registry."""

    def __init__(self, registry: Registry, *, hicache: bool) -> None:
        self.registry = registry
        self._hicache = hicache
        self._evicted_seen = 0

    def prefilled(self, *, computed: int, cached: CachedTokens) -> None:
        registry = self.registry
        registry.add("realtime_tokens_total", computed, mode="prefill_compute")
        registry.add("realtime_tokens_total", cached.total, mode="prefill_cache")
        registry.set("cache_hit_rate", cached.total / (computed + cached.total))
        if self._hicache:
            registry.add("load_back_tokens_total", cached.host, pool="kv")

    def evicted(self, *, so_far: int) -> None:
        """`so_far` counts from the start of the process."""
        self.registry.add("evicted_tokens_total", so_far - self._evicted_seen)
        self._evicted_seen = so_far

    def decoded(self, n_tokens: int) -> None:
        self.registry.add("realtime_tokens_total", n_tokens, mode="decode")

    def finished(self, *, prompt: int, generated: int, cached: CachedTokens, stream: bool) -> None:
        registry = self.registry
        registry.add("prompt_tokens_total", prompt)
        registry.add("generation_tokens_total", generated)
        registry.add("num_requests_total", is_streaming=str(stream))
        registry.add("cached_tokens_total", cached.device, cache_source="device")
        registry.add("cached_tokens_total", cached.host, cache_source="host")
        registry.add("cached_tokens_total", cached.total, cache_source="total")

    def transfer_failed(self) -> None:
        self.registry.add("num_transfer_failed_reqs_total")

    def bootstrap_failed(self) -> None:
        self.registry.add("num_bootstrap_failed_reqs_total")

    def aborted(self) -> None:
        self.registry.add("num_aborted_requests_total")

    def publish(self, gauges: EngineGauges, *, tokens_per_s: float) -> None:
        values = {
            "num_running_reqs": gauges.running,
            "num_queue_reqs": gauges.waiting,
            "num_decode_prealloc_queue_reqs": gauges.prealloc,
            "num_decode_transfer_queue_reqs": gauges.transferring,
            "num_prefill_inflight_queue_reqs": gauges.transferring,
            "num_prefill_bootstrap_queue_reqs": gauges.prealloc,
            "token_usage": gauges.token_usage,
            "num_used_tokens": gauges.used_tokens,
            "kv_used_tokens": gauges.used_tokens,
            "kv_evictable_tokens": gauges.evictable_tokens,
            "kv_available_tokens": gauges.available_tokens,
            "max_total_num_tokens": gauges.total_tokens,
            "gen_throughput": tokens_per_s,
        }
        if self._hicache:
            values["hicache_host_used_tokens"] = gauges.host_used_tokens
            values["hicache_host_total_tokens"] = gauges.host_total_tokens
        for name, value in values.items():
            self.registry.set(name, value)


def make_registry(model_name: str) -> Registry:
    """All families declared, the counters that a reader differences present from the start."""
    registry = Registry({"model_name": model_name, "engine_type": "unified"})
    for kind, families in (("gauge", _GAUGES), ("counter", _COUNTERS), ("histogram", _HISTOGRAMS)):
        for name, description in families.items():
            registry.declare(name, kind, description)
    for mode in ("prefill_compute", "prefill_cache", "decode"):
        registry.add("realtime_tokens_total", 0, mode=mode)
    for source in ("device", "host", "total"):
        registry.add("cached_tokens_total", 0, cache_source=source)
    for streaming in ("True", "False"):
        registry.add("num_requests_total", 0, is_streaming=streaming)
    for name in (
        "prompt_tokens_total",
        "generation_tokens_total",
        "evicted_tokens_total",
        "num_transfer_failed_reqs_total",
        "num_bootstrap_failed_reqs_total",
        "num_aborted_requests_total",
    ):
        registry.add(name, 0)
    return registry
