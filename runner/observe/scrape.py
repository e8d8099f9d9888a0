"""Reads one metrics scrape into the values that are kept; invents no missing one."""

from collections.abc import Collection, Iterable, Mapping

from runner.campaign.stack_shape import MetricRole
from runner.observe.engine_readings import read_page, summed_over_engines
from runner.observe.exposition import Sample, read_exposition
from runner.observe.metric_dialects import (
    KNOWN_DIALECTS,
    PROCESS_START,
    SGLANG,
    dialect_of,
)

# What is kept as rows besides what the dialects read. SGLang names its series in
# srt/observability/metrics_collector.py. The whole scrape is kept as raw bytes, so nothing is lost.
_FURTHER_SERIES = frozenset(
    {
        "sglang:num_used_tokens",
        "sglang:cache_hit_rate",
        "sglang:cached_tokens_total",
        "sglang:prefill_effective_tokens_total",
        "sglang:load_back_tokens_total",
        "sglang:evicted_tokens_total",
        "sglang:hicache_host_used_tokens",
        "sglang:num_transfer_failed_reqs_total",
        "sglang:num_bootstrap_failed_reqs_total",
        "sglang:num_aborted_requests_total",
        "sglang:num_retracted_requests_total",
        "vllm:prefix_cache_hits_total",
        "vllm:prefix_cache_queries_total",
        "vllm:num_preemptions_total",
        "vllm:corrupted_requests_total",
        PROCESS_START,
    }
)
KEPT_SERIES = _FURTHER_SERIES.union(*(dialect.series() for dialect in KNOWN_DIALECTS))


def parse_scrape(body: bytes, *, also: Collection[str] = ()) -> tuple[Sample, ...]:
    """The kept series, and those named in `also`, of a Prometheus text body.

    Raises ValueError where it is not one.
    """
    return kept_samples(read_exposition(body), also=also)


def kept_samples(samples: Iterable[Sample], *, also: Collection[str] = ()) -> tuple[Sample, ...]:
    return tuple(sample for sample in samples if sample.name in KEPT_SERIES or sample.name in also)


def running_requests(samples: Iterable[Sample]) -> float | None:
    """Requests that run now: summed over engines, never over ranks that repeat; None if unsaid."""
    listed = list(samples)
    dialect = dialect_of(listed)
    return read_page(listed, dialect).totals().get(MetricRole.RUNNING) if dialect else None


def counter_total(
    samples: Iterable[Sample], name: str, *, labels: Mapping[str, str]
) -> float | None:
    """A counter over all engines, of the series that carry `labels`; None where there is none."""
    matching = [
        sample
        for sample in samples
        if sample.name == name and labels.items() <= sample.labels.items()
    ]
    return summed_over_engines(matching, dialect_of(matching) or SGLANG)
