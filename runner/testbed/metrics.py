"""Counters, gauges and histograms in Prometheus text.

It knows how numbers are kept and printed; which there are is the catalogue's matter, and when a
gauge is refreshed the engines' decision.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from runner.testbed.metric_catalogue import FROM_THE_START, MetricFamily, Scope

Labels = tuple[tuple[str, str], ...]
# One-two-five, from a millisecond to the longest timeout and prompt, for seconds and tokens alike.
BUCKETS = tuple(round(digit * 10.0**power, 3) for power in range(-3, 4) for digit in (1, 2, 5))


@dataclass(slots=True)
class _Samples:
    """One family with all its label sets."""

    family: MetricFamily
    common: Labels
    values: dict[Labels, float] = field(default_factory=dict)
    histograms: dict[Labels, _Histogram] = field(default_factory=dict)


@dataclass(slots=True)
class _Histogram:
    """`counts` has one entry a bucket, the last for what is above all of them."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    total: float = 0.0
    last: float = 0.0


class Registry:
    """All metrics of one server; may be written by one thread and read by another.

    `scopes` gives the labels that stand on every sample of a family of that scope.
    """

    def __init__(
        self, families: Iterable[MetricFamily], scopes: Mapping[Scope, Mapping[str, str]]
    ) -> None:
        self._samples = {
            family.name: _Samples(family, tuple(scopes[family.scope].items()))
            for family in families
        }
        self._lock = threading.Lock()
        for name in self._samples.keys() & FROM_THE_START.keys():
            for labels in FROM_THE_START[name]:
                self.add(name, 0, **labels)

    def has(self, name: str) -> bool:
        return name in self._samples

    def add(self, name: str, amount: float = 1.0, **labels: str) -> None:
        """Raise a counter (or move a gauge that counts something open)."""
        samples = self._samples[name]
        key = samples.common + tuple(labels.items())
        with self._lock:
            samples.values[key] = samples.values.get(key, 0.0) + amount

    def set(self, name: str, value: float, **labels: str) -> None:
        samples = self._samples[name]
        with self._lock:
            samples.values[samples.common + tuple(labels.items())] = value

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Add to a histogram."""
        samples = self._samples[name]
        key = samples.common + tuple(labels.items())
        with self._lock:
            histogram = samples.histograms.get(key)
            if histogram is None:
                histogram = samples.histograms[key] = _Histogram()
            histogram.counts[bisect_left(BUCKETS, value)] += 1
            histogram.total += value
            histogram.last = value

    def value(self, name: str, **labels: str) -> float:
        """The current value of one sample; 0 if it was never written."""
        samples = self._samples[name]
        with self._lock:
            return samples.values.get(samples.common + tuple(labels.items()), 0.0)

    def last_observed(self, name: str) -> float:
        """The last value of a histogram without labels of its own; 0 if there was none."""
        samples = self._samples[name]
        with self._lock:
            histogram = samples.histograms.get(samples.common)
            return 0.0 if histogram is None else histogram.last

    def exposition(self) -> str:
        """Prometheus text format 0.0.4."""
        with self._lock:
            return "".join(
                f"{line}\n" for samples in self._samples.values() for line in _lines(samples)
            )


def _lines(samples: _Samples) -> Iterator[str]:
    name = samples.family.full_name
    yield f"# HELP {name} {samples.family.description}"
    yield f"# TYPE {name} {samples.family.kind}"
    for labels, value in samples.values.items():
        yield f"{name}{_braces(labels)} {_number(value)}"
    for labels, histogram in samples.histograms.items():
        bounds = (*map(str, BUCKETS), "+Inf")
        for bound, count in zip(bounds, accumulate(histogram.counts), strict=True):
            yield f"{name}_bucket{_braces((*labels, ('le', bound)))} {_number(count)}"
        yield f"{name}_sum{_braces(labels)} {_number(histogram.total)}"
        yield f"{name}_count{_braces(labels)} {_number(sum(histogram.counts))}"


def _braces(labels: Labels) -> str:
    inside = ",".join(f'{key}="{_escaped(value)}"' for key, value in labels)
    return f"{{{inside}}}" if inside else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return repr(float(value))
