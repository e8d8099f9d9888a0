"""Which metrics the testbed has: SGLang's names, types and labels, and its own audit.

Data only. A family without a sample shows that nothing of the kind has happened yet.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

_OTHER_PREFIXES = ("testbed:", "smg_")


class Scope(StrEnum):
    """Whose labels a family carries, as in SGLang; HTTP: none but its own."""

    SCHEDULER = "scheduler"
    API = "api"
    CACHE = "cache"
    HTTP = "http"


class MetricFamily(NamedTuple):
    name: str
    kind: str
    scope: Scope
    description: str

    @property
    def full_name(self) -> str:
        """SGLang's prefix, but for the testbed's own and the router's."""
        return self.name if self.name.startswith(_OTHER_PREFIXES) else f"sglang:{self.name}"


def _families(kind: str, scope: Scope, rows: dict[str, str]) -> tuple[MetricFamily, ...]:
    return tuple(MetricFamily(name, kind, scope, text) for name, text in rows.items())


ALWAYS: tuple[MetricFamily, ...] = (
    *_families(
        "gauge",
        Scope.SCHEDULER,
        {
            "num_running_reqs": "Requests in the running batch.",
            "num_queue_reqs": "Requests in the waiting queue.",
            "num_grammar_queue_reqs": "Requests in the grammar queue.",
            "num_prefill_bootstrap_queue_reqs": "Requests that wait for decode's page indices.",
            "num_prefill_inflight_queue_reqs": "Requests whose pages prefill is sending.",
            "num_decode_prealloc_queue_reqs": "Requests that wait for a decode slot.",
            "num_decode_transfer_queue_reqs": "Requests whose pages are on their way to decode.",
            "pending_prealloc_token_usage": "Share of the decode pool given to pages on their way.",
            "num_retracted_reqs": "Requests retracted since the last report.",
            "num_paused_reqs": "Requests paused since the last report.",
            "token_usage": "Share of the device pool's tokens in use.",
            "num_used_tokens": "Tokens of the device pool in use.",
            "kv_used_tokens": "Tokens of the device pool in use.",
            "kv_evictable_tokens": "Cached tokens of the device pool that may be evicted.",
            "kv_available_tokens": "Free tokens of the device pool.",
            "max_total_num_tokens": "Tokens of the device pool.",
            "page_size": "Tokens of a page.",
            "num_pages": "Pages of the device pool.",
            "context_len": "Most tokens of prompt and answer together.",
            "gen_throughput": "Generated tokens per second.",
            "decode_sum_seq_lens": "Tokens of all running sequences.",
            "cache_hit_rate": "Cached share of the last prefill batch; 0 after a decode report.",
            "is_cuda_graph": "Whether the last batch ran as a CUDA graph.",
            "kv_cache_memory_usage_gb": "Size of the device pool.",
            "weight_memory_usage_gb": "Size of the weights.",
            "graph_memory_usage_gb": "Size of the CUDA graphs.",
        },
    ),
    *_families(
        "counter",
        Scope.SCHEDULER,
        {
            "realtime_tokens_total": "Tokens computed or found cached, as it happens.",
            "prefill_effective_tokens_total": "Prompt tokens by where they came from.",
            "num_bootstrap_failed_reqs_total": "Requests that failed before their transfer began.",
            "num_transfer_failed_reqs_total": "Requests whose page transfer failed.",
            "num_prefill_retries_total": "Prefills tried again.",
            "num_retracted_requests_total": "Requests retracted.",
            "num_retracted_input_tokens_total": "Prompt tokens of retracted requests.",
            "num_retracted_output_tokens_total": "Generated tokens of retracted requests.",
            "cuda_graph_passes_total": "Forward passes, as CUDA graphs or not.",
        },
    ),
    *_families(
        "histogram",
        Scope.SCHEDULER,
        {
            "queue_time_seconds": "From receipt of a request to its prefill.",
            "kv_transfer_alloc_ms": "From receipt of a request to its decode slot.",
            "kv_transfer_bootstrap_ms": "From receipt of a request to decode's page indices.",
            "kv_transfer_latency_ms": "From the end of prefill to the pages' arrival.",
            "kv_transfer_speed_gb_s": "Bytes of a transfer by its latency.",
            "kv_transfer_total_mb": "Size of a transfer.",
        },
    ),
    *_families(
        "counter",
        Scope.CACHE,
        {"evicted_tokens_total": "Tokens evicted from the device pool."},
    ),
    *_families(
        "histogram",
        Scope.CACHE,
        {"eviction_duration_seconds": "How long an eviction took."},
    ),
    *_families(
        "counter",
        Scope.API,
        {
            "prompt_tokens_total": "Prompt tokens of finished requests.",
            "generation_tokens_total": "Generated tokens of finished requests.",
            "num_requests_total": "Finished requests.",
            "cached_tokens_total": "Cached prompt tokens of finished requests.",
            "num_aborted_requests_total": "Abort calls, client disconnects included.",
        },
    ),
    *_families(
        "histogram",
        Scope.API,
        {
            "time_to_first_token_seconds": "From receipt of a request to its first token.",
            "inter_token_latency_seconds": "Between two tokens of an answer.",
            "e2e_request_latency_seconds": "From receipt of a request to its end.",
            "prompt_tokens_histogram": "Prompt tokens of a finished request.",
            "uncached_prompt_tokens_histogram": "Those of them that were not cached.",
            "generation_tokens_histogram": "Generated tokens of a finished request.",
        },
    ),
    *_families("gauge", Scope.HTTP, {"http_requests_active": "HTTP requests being answered."}),
    *_families(
        "counter",
        Scope.HTTP,
        {
            "http_requests_total": "HTTP requests received.",
            "http_responses_total": "HTTP responses sent.",
        },
    ),
    *_families(
        "counter",
        Scope.SCHEDULER,
        {
            "testbed:audited_index_pages_total": "Index-key pages compared with what was computed.",
            "testbed:differing_index_pages_total": "Pages whose bytes first differed there.",
            "testbed:late_page_writes_total": "Pages written to a slot that had another owner.",
        },
    ),
)

WITH_HICACHE: tuple[MetricFamily, ...] = (
    *_families(
        "gauge",
        Scope.SCHEDULER,
        {
            "hicache_host_used_tokens": "Tokens in the host pool in use.",
            "hicache_host_total_tokens": "Tokens of the host pool.",
        },
    ),
    *_families(
        "counter",
        Scope.CACHE,
        {
            "load_back_tokens_total": "Tokens copied back from the host pool.",
            "load_back_bytes_total": "Bytes copied back from the host pool.",
            "hicache_backup_tokens_total": "Tokens copied to the host pool.",
            "hicache_backup_bytes_total": "Bytes copied to the host pool.",
            "hicache_dropped_tokens_total": "Tokens not copied to the host pool.",
        },
    ),
    *_families(
        "histogram",
        Scope.CACHE,
        {
            "load_back_duration_seconds": "How long a load-back took.",
            "hicache_backup_duration_seconds": "How long a copy to the host took.",
        },
    ),
    *_families(
        "counter",
        Scope.SCHEDULER,
        {
            "testbed:load_backs_total": "Prefills that had pages loaded back.",
            "testbed:races_lost_total": "Layers read before their index keys had come back.",
            "testbed:late_copies_total": "Load-backs that ended in a page of another owner.",
        },
    ),
)

# Zero from the start, name -> label sets: counters that a reader differences, and gauges of what
# this stack never does.
FROM_THE_START: dict[str, tuple[dict[str, str], ...]] = {
    "num_grammar_queue_reqs": ({},),
    "num_retracted_reqs": ({},),
    "num_paused_reqs": ({},),
    "is_cuda_graph": ({},),
    "graph_memory_usage_gb": ({},),
    "realtime_tokens_total": tuple(
        {"mode": mode} for mode in ("prefill_compute", "prefill_cache", "decode")
    ),
    "prefill_effective_tokens_total": tuple(
        {"mode": mode} for mode in ("input", "device_hit", "host_hit", "storage_hit")
    ),
    "cached_tokens_total": tuple(
        {"cache_source": source} for source in ("device", "host", "total")
    ),
    "num_requests_total": ({"is_streaming": "True"}, {"is_streaming": "False"}),
    "prompt_tokens_total": ({},),
    "generation_tokens_total": ({},),
    "evicted_tokens_total": ({},),
    "num_transfer_failed_reqs_total": ({},),
    "num_bootstrap_failed_reqs_total": ({},),
    "num_prefill_retries_total": ({},),
    "num_retracted_requests_total": ({},),
    "num_retracted_input_tokens_total": ({},),
    "num_retracted_output_tokens_total": ({},),
    "num_aborted_requests_total": ({},),
    "load_back_tokens_total": ({"pool": "kv"}, {"pool": "indexer"}),
    "load_back_bytes_total": ({},),
    "hicache_backup_tokens_total": ({"pool": "kv"}, {"pool": "indexer"}),
    "hicache_backup_bytes_total": ({},),
    "testbed:audited_index_pages_total": tuple(
        {"where": where} for where in ("host", "device", "decode")
    ),
    "testbed:differing_index_pages_total": tuple(
        {"where": where} for where in ("host", "device", "decode")
    ),
    "testbed:late_page_writes_total": ({},),
    "testbed:load_backs_total": ({},),
    "testbed:races_lost_total": ({},),
    "testbed:late_copies_total": ({},),
}
