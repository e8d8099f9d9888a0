"""When the prefix cache and its host mirror write which metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from runner.testbed.index_keys import PAGE_TOKENS
from runner.testbed.metrics import Registry

_POOLS = ("kv", "indexer")


class CacheMetrics:
    """Tokens count once per pool, as both pools have every page; bytes are those copied."""

    def __init__(self, registry: Registry, clock: Callable[[], float]) -> None:
        self._registry = registry
        self._clock = clock
        self._evicted_seen = 0
        self._dropped_seen = 0

    @contextmanager
    def timed(self, histogram: str) -> Iterator[None]:
        started_s = self._clock()
        yield
        self._registry.observe(histogram, self._clock() - started_s)

    def evicted(self, *, so_far: int, seconds: float) -> None:
        """`so_far` counts tokens from the start of the process."""
        if so_far > self._evicted_seen:
            self._registry.add("evicted_tokens_total", so_far - self._evicted_seen)
            self._registry.observe("eviction_duration_seconds", seconds)
            self._evicted_seen = so_far

    def loaded_back(self, *, n_pages: int, n_bytes: int) -> None:
        self._copied("load_back", n_pages, n_bytes)
        self._registry.add("testbed:load_backs_total")

    def load_took(self, seconds: float) -> None:
        self._registry.observe("load_back_duration_seconds", seconds)

    def races_lost(self, count: int) -> None:
        """Layers that were read before their index keys had come back."""
        if count:
            self._registry.add("testbed:races_lost_total", count)

    def late_copies(self, count: int) -> None:
        """Index keys that came back into a page of another owner."""
        if count:
            self._registry.add("testbed:late_copies_total", count)

    def backed_up(self, *, n_pages: int, n_bytes: int) -> None:
        self._copied("hicache_backup", n_pages, n_bytes)

    def dropped(self, *, so_far: int) -> None:
        """Tokens that found no host page; `so_far` counts from the start of the process."""
        if so_far > self._dropped_seen:
            amount, self._dropped_seen = so_far - self._dropped_seen, so_far
            for pool in _POOLS:
                self._registry.add(
                    "hicache_dropped_tokens_total", amount, reason="host_full", pool=pool
                )

    def _copied(self, what: str, n_pages: int, n_bytes: int) -> None:
        for pool in _POOLS:
            self._registry.add(f"{what}_tokens_total", n_pages * PAGE_TOKENS, pool=pool)
        self._registry.add(f"{what}_bytes_total", n_bytes)
