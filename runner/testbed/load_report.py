"""`/v1/loads`: the engine's last snapshot, as SGLang lays it out.

It reads the gauges that the engine has published, so it freezes when they do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runner.testbed.launch_options import VERSION, LaunchOptions
from runner.testbed.metrics import Registry

SECTIONS = ("core", "disagg", "queues")


def load_report(
    options: LaunchOptions, registry: Registry, *, wall_s: float, include: frozenset[str]
) -> dict[str, Any]:
    """One row, for there is one rank. `include` names sections; `all` means every one."""

    def value(name: str) -> float:
        return registry.value(name) if registry.has(name) else 0.0

    row: dict[str, Any] = {"dp_rank": 0}
    wanted = SECTIONS if "all" in include else include
    if "core" in wanted:
        row |= _core(value)
    if "disagg" in wanted:
        row["disaggregation"] = {
            **_disaggregation(options, value),
            "kv_transfer_speed_gb_s": registry.last_observed("kv_transfer_speed_gb_s"),
            "kv_transfer_latency_ms": registry.last_observed("kv_transfer_latency_ms"),
        }
    if "queues" in wanted:
        row["queues"] = {
            "waiting": int(value("num_queue_reqs")),
            "grammar": 0,
            "paused": 0,
            "retracted": 0,
            "prealloc_ready": int(value("num_decode_prealloc_queue_reqs")),
        }
    return {"timestamp": wall_s, "version": VERSION, "dp_rank_count": 1, "loads": [row]}


def _core(value: Callable[[str], float]) -> dict[str, Any]:
    return {
        "num_running_reqs": int(value("num_running_reqs")),
        "num_waiting_reqs": int(value("num_queue_reqs")),
        "num_used_tokens": int(value("num_used_tokens")),
        "num_total_tokens": int(value("decode_sum_seq_lens")),
        "max_total_num_tokens": int(value("max_total_num_tokens")),
        "token_usage": value("token_usage"),
        "gen_throughput": value("gen_throughput"),
        "cache_hit_rate": value("cache_hit_rate"),
    }


def _disaggregation(options: LaunchOptions, value: Callable[[str], float]) -> dict[str, Any]:
    return {
        "mode": options.disaggregation_mode,
        "prefill_bootstrap_queue_reqs": int(value("num_prefill_bootstrap_queue_reqs")),
        "prefill_inflight_queue_reqs": int(value("num_prefill_inflight_queue_reqs")),
        "decode_prealloc_queue_reqs": int(value("num_decode_prealloc_queue_reqs")),
        "decode_transfer_queue_reqs": int(value("num_decode_transfer_queue_reqs")),
        "decode_retracted_queue_reqs": 0,
    }
