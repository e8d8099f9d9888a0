"""What the server says it is: launch arguments, resolved settings, and the sizes of its pools.

Byte counts are taken from the pools' tensors, not from the switches, so that they prove something.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from runner.testbed.engine import Engine
from runner.testbed.host_pool import host_index_page_bytes
from runner.testbed.index_keys import PAGE_TOKENS
from runner.testbed.launch_options import VERSION, LaunchOptions

_GIB = 1024**3


def server_info(options: LaunchOptions, engine: Engine, *, startup_time_s: float) -> dict[str, Any]:
    """SGLang's layout: the launch at top level, the resolved state of each rank below it."""
    resolved = _resolved(options)
    capacity = options.pages * PAGE_TOKENS
    state = {
        **resolved,
        "effective_max_running_requests_per_dp": options.max_running_requests,
        "startup_time": startup_time_s,
        "memory_usage": memory_usage(options, engine),
    }
    return {
        **resolved,
        "status": "ready",
        "max_total_num_tokens": capacity,
        "max_req_input_len": options.context_length - 1,
        "startup_time": startup_time_s,
        "internal_states": [state],
    }


def memory_usage(options: LaunchOptions, engine: Engine) -> dict[str, Any]:
    """Pool sizes; `host_index_key_bytes_per_token` is what a host page has or would have."""
    pool, host = engine.prefill_side.pool, engine.prefill_side.host
    device_page_bytes = pool.index.shape[2]
    host_page_bytes = (
        host.index.shape[2]
        if host is not None
        else host_index_page_bytes(options.host_index_bytes, device_page_bytes)
    )
    return {
        "kvcache": pool.n_bytes / _GIB,
        "token_capacity": options.pages * PAGE_TOKENS,
        "host_token_capacity": options.host_pages * PAGE_TOKENS if host is not None else 0,
        "kv_bytes_per_token": pool.kv.shape[2] // PAGE_TOKENS,
        "index_key_bytes_per_token": device_page_bytes // PAGE_TOKENS,
        "host_index_key_bytes_per_token": host_page_bytes // PAGE_TOKENS,
    }


def _resolved(options: LaunchOptions) -> dict[str, Any]:
    return {
        **asdict(options),
        "version": VERSION,
        "model_path": f"testbed/{options.served_model_name}",
        "page_size": PAGE_TOKENS,
        "kv_cache_dtype": "bfloat16",
        "disaggregation_mode": "null",
        "tp_size": 1,
        "dp_size": 1,
    }
