"""Whether the path that a factor is about was used at all during a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runner.campaign.campaign import Levels
from runner.campaign.stack_file import Stack
from runner.observe.exposition import Sample
from runner.observe.scrape import counter_total


@dataclass(frozen=True, slots=True)
class Exposure:
    """One counter that proves the use of a level: its growth, or None where it was not reported."""

    factor: str
    counter: str
    labels: Mapping[str, str]
    at_least: float
    grown: float | None

    @property
    def is_exercised(self) -> bool:
        return self.grown is not None and self.grown >= self.at_least

    def to_json(self) -> dict[str, Any]:
        return {
            "factor": self.factor,
            "counter": self.counter,
            "labels": dict(self.labels),
            "at_least": self.at_least,
            "grown": self.grown,
            "exercised": self.is_exercised,
        }


def measure_exposure(
    stack: Stack, levels: Levels, *, before: Sequence[Sample], after: Sequence[Sample]
) -> tuple[Exposure, ...]:
    """The growth of every counter that the levels of this arm should move.

    A counter that is absent before and there after has grown from nothing: servers create series
    at their first event. A counter that fell was reset, and counts from zero.
    """
    return tuple(
        Exposure(
            factor=factor,
            counter=check.counter,
            labels=check.labels,
            at_least=check.at_least,
            grown=_growth(check.counter, check.labels, before, after),
        )
        for factor, effect in stack.effects_of(levels)
        for check in effect.exercise
    )


# What is told of the caches of every run, where the server counts it. SGLang's names stand in
# srt/observability/metrics_collector.py, vLLM's in vllm/v1/metrics/loggers.py.
_CACHE_COUNTERS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "device_cached_tokens": ("sglang:cached_tokens_total", {"cache_source": "device"}),
    "host_cached_tokens": ("sglang:cached_tokens_total", {"cache_source": "host"}),
    "loaded_back_tokens": ("sglang:load_back_tokens_total", {}),
    "prefix_hit_tokens": ("vllm:prefix_cache_hits_total", {}),
    "prefix_queried_tokens": ("vllm:prefix_cache_queries_total", {}),
}


def cache_use(*, before: Sequence[Sample], after: Sequence[Sample]) -> dict[str, float]:
    """How many tokens came out of which cache during a run; what is not counted is left out.

    Tokens that were loaded back count once for each pool.
    """
    grown = {
        name: _growth(counter, labels, before, after)
        for name, (counter, labels) in _CACHE_COUNTERS.items()
    }
    return {name: tokens for name, tokens in grown.items() if tokens is not None}


def _growth(
    name: str, labels: Mapping[str, str], before: Sequence[Sample], after: Sequence[Sample]
) -> float | None:
    end = counter_total(after, name, labels=labels)
    if end is None:
        return None
    start = counter_total(before, name, labels=labels) or 0.0
    return end - start if end >= start else end
