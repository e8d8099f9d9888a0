"""What a server says it is: launch arguments, resolved settings, and the sizes of its pools.

Byte counts are taken from the pools' tensors, not from the switches, so that they prove something.
"""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass
from typing import Any

from runner.testbed.host_pool import HostPool, host_index_page_bytes
from runner.testbed.index_keys import PAGE_TOKENS
from runner.testbed.kv_pool import PagePool
from runner.testbed.launch_options import VERSION, LaunchOptions

_GIB = 1024**3
_ALWAYS: dict[str, Any] = {
    "page_size": PAGE_TOKENS,
    "kv_cache_dtype": "bfloat16",
    "attention_backend": "torch",
    "dsa_prefill_backend": "torch",
    "dsa_decode_backend": "torch",
    "dsa_topk_backend": "torch",
    "hicache_size": 0,
    "hicache_write_policy": "write_through",
    "hicache_io_backend": "direct",
    "hicache_mem_layout": "page_first",
    "hicache_host_memory_mode": "cache",
    "hicache_storage_backend": None,
    "hicache_storage_prefetch_policy": None,
    "disaggregation_transfer_backend": "shared_memory",
    "disaggregation_ib_device": None,
    "disaggregation_decode_enable_radix_cache": False,
    "disaggregation_decode_enable_offload_kvcache": False,
    "disable_radix_cache": False,
    "radix_eviction_policy": "lru",
    "schedule_policy": "fcfs",
    "mem_fraction_static": None,
    "chunked_prefill_size": -1,
    "disable_overlap_schedule": True,
    "disable_cuda_graph": True,
    "cuda_graph_config": None,
    "speculative_algorithm": None,
    "reasoning_parser": None,
    "watchdog_timeout": None,
    "enable_metrics": True,
    "enable_cache_report": True,
    "tp_size": 1,
    "dp_size": 1,
    "ep_size": 1,
    "enable_dp_attention": False,
}


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What is found out at start-up, and what changes while serving."""

    pool: PagePool
    host: HostPool | None
    weight_bytes: int
    startup_time_s: float
    last_gen_throughput: float = 0.0


def server_info(options: LaunchOptions, facts: ServerFacts) -> dict[str, Any]:
    """SGLang's layout: the launch at top level, the resolved state of each rank below it."""
    resolved = _resolved(options)
    state = {
        **resolved,
        "last_gen_throughput": facts.last_gen_throughput,
        "effective_max_running_requests_per_dp": options.max_running_requests,
        "startup_time": facts.startup_time_s,
        "memory_usage": memory_usage(options, facts),
    }
    return {
        **resolved,
        "status": "ready",
        "pid": os.getpid(),
        "max_total_num_tokens": facts.pool.n_pages * PAGE_TOKENS,
        "max_req_input_len": options.context_length - 1,
        "startup_time": facts.startup_time_s,
        "internal_states": [state],
        "kv_events": None,
    }


def memory_usage(options: LaunchOptions, facts: ServerFacts) -> dict[str, Any]:
    """Pool sizes; `host_index_key_bytes_per_token` is what a host page has or would have."""
    pool, host = facts.pool, facts.host
    device_page_bytes = pool.index.shape[2]
    host_page_bytes = (
        host.index.shape[2]
        if host is not None
        else host_index_page_bytes(options.host_index_bytes, device_page_bytes)
    )
    return {
        "weight": facts.weight_bytes / _GIB,
        "kvcache": pool.n_bytes / _GIB,
        "graph": 0.0,
        "token_capacity": pool.n_pages * PAGE_TOKENS,
        "host_token_capacity": host.n_pages * PAGE_TOKENS if host is not None else 0,
        "kv_bytes_per_token": pool.kv.shape[2] // PAGE_TOKENS,
        "index_key_bytes_per_token": device_page_bytes // PAGE_TOKENS,
        "host_index_key_bytes_per_token": host_page_bytes // PAGE_TOKENS,
    }


def model_info(options: LaunchOptions) -> dict[str, Any]:
    """`/model_info`: what is served, and by which parsers its text is read."""
    return {
        "model_path": _model_path(options),
        "served_model_name": options.served_model_name,
        "tokenizer_path": _model_path(options),
        "is_generation": True,
        "weight_version": "default",
        "load_format": "safetensors",
        "reasoning_parser": None,
        "tool_call_parser": options.tool_call_parser,
        "model_type": "tiny-dsml",
        "architectures": ["TinyDsmlForCausalLM"],
    }


def _model_path(options: LaunchOptions) -> str:
    return f"testbed/{options.served_model_name}"


def _resolved(options: LaunchOptions) -> dict[str, Any]:
    """The switches, and under SGLang's names what this server always has."""
    switches = {name: _finite(value) for name, value in asdict(options).items()}
    return {
        **_ALWAYS,
        **switches,
        "version": VERSION,
        "model_path": _model_path(options),
        "hicache_ratio": options.host_pages / options.pages,
    }


def _finite(value: Any) -> Any:
    """JSON has no infinity; what never ends has no number."""
    return None if value in (math.inf, -math.inf) else value
