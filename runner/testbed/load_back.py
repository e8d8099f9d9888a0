"""Load-back: host pages on their way to the device while the forward pass goes on.

Keys and values have one queue, index keys a slower one of their own. The gate decides which of the
two a layer waits for before it reads. Fault F2 is the gate that leaves the index keys out: a layer
then selects by whatever its pages held before, and nothing waits for the copies afterwards either.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from runner.testbed.cache_metrics import CacheMetrics
from runner.testbed.host_pool import HostPool, PageCopy
from runner.testbed.page_numbers import FreePages
from runner.testbed.work_clock import WorkClock

COPY_US = 4.0
KV_MB_PER_S = 2000.0


def index_copy_us(host: HostPool, mb_per_s: float) -> float:
    """What the copy of one page's index keys takes in one layer; 0: it is not slowed down."""
    return COPY_US + host.index_bytes / mb_per_s if mb_per_s else 0.0


class LayerGate(Protocol):
    """What one request waits for before it reads a layer."""

    def wait_until(self, layer: int) -> None: ...


class LoadBack(Protocol):
    """Brings pages back from the host."""

    def start(self, copies: Sequence[PageCopy]) -> LayerGate: ...

    def poll(self) -> None:
        """Take note of what has arrived."""

    def finish(self) -> None:
        """Wait for everything that is under way."""


class CopyQueue:
    """Carries out copies one after the other, each when its time has come."""

    def __init__(self) -> None:
        self._free_from_us = 0.0
        self._copies: deque[tuple[float, Callable[[], None]]] = deque()

    def submit(self, carry_out: Callable[[], None], *, now_us: float, cost_us: float) -> float:
        """Returns when it will be done."""
        done_us = max(now_us, self._free_from_us) + cost_us
        self._free_from_us = done_us
        self._copies.append((done_us, carry_out))
        return done_us

    def advance(self, now_us: float) -> None:
        while self._copies and self._copies[0][0] <= now_us:
            self._copies.popleft()[1]()

    @property
    def done_us(self) -> float:
        """When all that it has will have been carried out."""
        return self._free_from_us


class SteppedLoadBack:
    """Copies on the engine's own time: the same steps give the same bytes, on any machine."""

    def __init__(
        self,
        host: HostPool,
        pages: FreePages,
        clock: WorkClock,
        metrics: CacheMetrics,
        *,
        waits_for_index: bool,
        index_mb_per_s: float,
    ) -> None:
        self._host = host
        self._pages = pages
        self._clock = clock
        self._metrics = metrics
        self.waits_for_index = waits_for_index
        self._kv, self._index = CopyQueue(), CopyQueue()
        self._kv_us = COPY_US + host.kv_bytes / KV_MB_PER_S
        self._index_us = index_copy_us(host, index_mb_per_s)

    def start(self, copies: Sequence[PageCopy]) -> LayerGate:
        n_layers = self._host.kv.shape[0]
        return SteppedGate(self, [self._submit(copies, layer) for layer in range(n_layers)])

    def poll(self) -> None:
        self._kv.advance(self._clock.now_us)
        self._index.advance(self._clock.now_us)

    def finish(self) -> None:
        self._clock.wait_until(max(self._kv.done_us, self._index.done_us))
        self.poll()

    def wait(self, kv_us: float, index_us: float) -> None:
        """Until a layer may be read; a race is lost when index keys are read before they came."""
        with self._metrics.timed("load_back_duration_seconds"):
            self._clock.wait_until(kv_us)
            if self.waits_for_index:
                self._clock.wait_until(index_us)
            self.poll()
        self._metrics.races_lost(index_us > self._clock.now_us)

    def _submit(self, copies: Sequence[PageCopy], layer: int) -> tuple[float, float]:
        """When keys and values of a layer will be there, and when its index keys.

        All pages of a layer are one operation and are there when it ends.
        """
        now_us, n_pages = self._clock.now_us, len(copies)
        tenures = [self._pages.tenure(copy.device) for copy in copies]

        def load_kv() -> None:
            for copy in copies:
                self._host.load_kv(copy, layer)

        def load_index() -> None:
            for copy, tenure in zip(copies, tenures, strict=True):
                self._metrics.late_copies(self._pages.tenure(copy.device) != tenure)
                self._host.load_index(copy, layer)

        return (
            self._kv.submit(load_kv, now_us=now_us, cost_us=n_pages * self._kv_us),
            self._index.submit(load_index, now_us=now_us, cost_us=n_pages * self._index_us),
        )


class SteppedGate:
    """`layers`: when keys and values, and when index keys, of each layer will be there."""

    def __init__(self, load_back: SteppedLoadBack, layers: list[tuple[float, float]]) -> None:
        self._load_back = load_back
        self._layers = layers

    def wait_until(self, layer: int) -> None:
        self._load_back.wait(*self._layers[layer])


class NothingToLoad:
    """The gate of a request whose pages are all on the device."""

    def wait_until(self, layer: int) -> None:
        """At once."""
