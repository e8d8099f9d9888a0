"""The router's own metrics, and both workers' metrics on one page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from runner.testbed.metric_catalogue import MetricFamily, Scope
from runner.testbed.metrics import Registry

_FAMILIES: Final = (
    MetricFamily("smg_worker_health", "gauge", Scope.HTTP, "Whether the worker is healthy."),
    MetricFamily(
        "smg_worker_requests_active", "gauge", Scope.HTTP, "Requests that the worker is answering."
    ),
    MetricFamily("smg_router_requests_total", "counter", Scope.HTTP, "Requests received."),
)
_SAMPLE = re.compile(r"^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)$")


class RouterMetrics:
    def __init__(self, workers: Sequence[str]) -> None:
        self._registry = Registry(_FAMILIES, {Scope.HTTP: {}})
        self._registry.add("smg_router_requests_total", 0)
        for worker in workers:
            self._registry.set("smg_worker_requests_active", 0, worker=worker)

    def begin(self, *workers: str) -> None:
        self._registry.add("smg_router_requests_total")
        for worker in workers:
            self._registry.add("smg_worker_requests_active", 1, worker=worker)

    def end(self, *workers: str) -> None:
        for worker in workers:
            self._registry.add("smg_worker_requests_active", -1, worker=worker)

    def set_health(self, worker: str, is_healthy: bool) -> None:
        self._registry.set("smg_worker_health", int(is_healthy), worker=worker)

    def exposition(self) -> str:
        return self._registry.exposition()


def labelled_exposition(pages: Mapping[str, str]) -> str:
    """Pages of several workers as one: a family once, every sample with its `worker_addr`."""
    heads: dict[str, list[str]] = {}
    samples: dict[str, list[str]] = {}
    for worker, page in pages.items():
        family = ""
        for line in page.splitlines():
            if line.startswith("# HELP "):
                family = line.split(" ", 3)[2]
                heads[family] = [line]
                samples.setdefault(family, [])
            elif line.startswith("# TYPE "):
                heads[family].append(line)
            else:
                samples[family].append(_with_worker(line, worker))
    lines = (line for family, head in heads.items() for line in (*head, *samples[family]))
    return "".join(f"{line}\n" for line in lines)


def _with_worker(sample: str, worker: str) -> str:
    match = _SAMPLE.match(sample)
    assert match is not None, f"no sample of ours: {sample}"
    name, labels, value = match.groups()
    own = f'worker_addr="{worker}"'
    return f"{name}{{{f'{labels},{own}' if labels else own}}} {value}"
