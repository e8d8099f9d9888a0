"""Counters, gauges and histograms in Prometheus text, under SGLang's names.

It knows how numbers are kept and printed; when a gauge is refreshed is the engine's decision.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

Labels = tuple[tuple[str, str], ...]
SECONDS_BUCKETS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)


@dataclass(slots=True)
class Family:
    """One metric with all its label sets."""

    name: str
    kind: str
    description: str
    values: dict[Labels, float] = field(default_factory=dict)
    histograms: dict[Labels, list[float]] = field(default_factory=dict)


class Registry:
    """All metrics of one server; may be written by one thread and read by another.

    `common` labels stand on every sample, as SGLang's `model_name` and `engine_type` do.
    """

    def __init__(self, common: dict[str, str]) -> None:
        self._common = tuple(common.items())
        self._families: dict[str, Family] = {}
        self._lock = threading.Lock()

    def declare(self, name: str, kind: str, description: str) -> None:
        self._families[name] = Family(name, kind, description)

    def add(self, name: str, amount: float = 1.0, **labels: str) -> None:
        """Raise a counter (or move a gauge that counts something open)."""
        key = self._common + tuple(labels.items())
        with self._lock:
            values = self._families[name].values
            values[key] = values.get(key, 0.0) + amount

    def set(self, name: str, value: float, **labels: str) -> None:
        key = self._common + tuple(labels.items())
        with self._lock:
            self._families[name].values[key] = value

    def observe(self, name: str, value: float, **labels: str) -> None:
        """Add to a histogram; the last two numbers kept per label set are count and sum."""
        key = self._common + tuple(labels.items())
        with self._lock:
            row = self._families[name].histograms.setdefault(
                key, [0.0] * (len(SECONDS_BUCKETS) + 2)
            )
            for index, bound in enumerate(SECONDS_BUCKETS):
                row[index] += value <= bound
            row[-2] += 1
            row[-1] += value

    def value(self, name: str, **labels: str) -> float:
        """The current value of one sample; 0 if it was never written."""
        with self._lock:
            return self._families[name].values.get(self._common + tuple(labels.items()), 0.0)

    def exposition(self) -> str:
        """Prometheus text format 0.0.4."""
        with self._lock:
            return "".join(f"{line}\n" for f in self._families.values() for line in _lines(f))


def _lines(family: Family) -> Iterator[str]:
    name = f"sglang:{family.name}"
    yield f"# HELP {name} {family.description}"
    yield f"# TYPE {name} {family.kind}"
    for labels, value in family.values.items():
        yield f"{name}{_braces(labels)} {_number(value)}"
    for labels, row in family.histograms.items():
        for bound, count in zip(SECONDS_BUCKETS, row, strict=False):
            yield f"{name}_bucket{_braces((*labels, ('le', str(bound))))} {_number(count)}"
        yield f"{name}_bucket{_braces((*labels, ('le', '+Inf')))} {_number(row[-2])}"
        yield f"{name}_sum{_braces(labels)} {_number(row[-1])}"
        yield f"{name}_count{_braces(labels)} {_number(row[-2])}"


def _braces(labels: Labels) -> str:
    inside = ",".join(f'{key}="{_escaped(value)}"' for key, value in labels)
    return f"{{{inside}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return repr(float(value))
