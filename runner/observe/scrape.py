"""Reads one metrics scrape into values; knows the series that matter, invents no missing one."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from prometheus_client.parser import text_string_to_metric_families

RUNNING_SERIES = "sglang:num_running_reqs"

# What is kept as rows. SGLang names them in srt/observability/metrics_collector.py.
# The whole scrape is kept as raw bytes besides, so nothing is lost by this choice.
KEPT_SERIES = frozenset(
    {
        RUNNING_SERIES,
        "sglang:num_queue_reqs",
        "sglang:num_prefill_inflight_queue_reqs",
        "sglang:num_decode_prealloc_queue_reqs",
        "sglang:num_decode_transfer_queue_reqs",
        "sglang:token_usage",
        "sglang:num_used_tokens",
        "sglang:gen_throughput",
        "sglang:cache_hit_rate",
        "sglang:realtime_tokens_total",
        "sglang:prompt_tokens_total",
        "sglang:generation_tokens_total",
        "sglang:num_requests_total",
        "sglang:cached_tokens_total",
        "sglang:prefill_effective_tokens_total",
        "sglang:load_back_tokens_total",
        "sglang:evicted_tokens_total",
        "sglang:hicache_host_used_tokens",
        "sglang:num_transfer_failed_reqs_total",
        "sglang:num_bootstrap_failed_reqs_total",
        "sglang:num_aborted_requests_total",
        "sglang:num_retracted_requests_total",
        "vllm:num_requests_running",
        "vllm:num_requests_waiting",
        "vllm:kv_cache_usage_perc",
        "vllm:prompt_tokens_total",
        "vllm:generation_tokens_total",
        "vllm:request_success_total",
        "vllm:prefix_cache_hits_total",
        "vllm:num_preemptions_total",
        "llamacpp:requests_processing",
        "llamacpp:requests_deferred",
        "llamacpp:tokens_predicted_total",
    }
)
_RUNNING_NAMES = frozenset(
    {RUNNING_SERIES, "vllm:num_requests_running", "llamacpp:requests_processing"}
)
# Labels that repeat the same number for the same requests: never summed over.
_REPEATING_LABELS = ("tp_rank", "pp_rank", "moe_ep_rank")


@dataclass(frozen=True, slots=True)
class Sample:
    name: str
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


def parse_scrape(body: bytes, *, also: Collection[str] = ()) -> tuple[Sample, ...]:
    """The kept series, and those named in `also`, of a Prometheus text body.

    Raises ValueError where it is not one.
    """
    text = body.decode("utf-8", errors="replace")
    return tuple(
        Sample(sample.name, float(sample.value), dict(sample.labels))
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name in KEPT_SERIES or sample.name in also
    )


def running_requests(samples: Iterable[Sample]) -> float | None:
    """Requests that run now: summed over engines, once per tensor-parallel group; None if unsaid.

    The prefill side of a disaggregated pair counts its current batch, which the decode side counts
    later again, so prefill engines are left out where decode engines report.
    """
    running = [sample for sample in samples if sample.name in _RUNNING_NAMES]
    decoding = [sample for sample in running if sample.labels.get("engine_type") != "prefill"]
    return _sum_over_engines(decoding or running)


def counter_total(
    samples: Iterable[Sample], name: str, *, labels: Mapping[str, str]
) -> float | None:
    """A counter over all engines, of the series that carry `labels`; None where there is none."""
    matching = [
        sample
        for sample in samples
        if sample.name == name and labels.items() <= sample.labels.items()
    ]
    return _sum_over_engines(matching)


def _sum_over_engines(samples: Iterable[Sample]) -> float | None:
    by_engine: dict[tuple[tuple[str, str], ...], float] = {}
    for sample in samples:
        if sample.labels.get("priority"):
            continue
        engine = tuple(
            sorted(item for item in sample.labels.items() if item[0] not in _REPEATING_LABELS)
        )
        by_engine[engine] = max(by_engine.get(engine, sample.value), sample.value)
    return sum(by_engine.values()) if by_engine else None
