"""Load-back on a CUDA device: copies from pinned memory on side streams, events as the gate.

Keys and values and index keys have a stream each. A forward pass that does not wait for the event
of a layer's index keys reads whatever is there at that moment: fault F2 as a real race. A layer's
index keys follow a pause on their stream, so that their copies take as long as at a given
speed; without the pause a page is there within microseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from runner.testbed.cache_metrics import CacheMetrics
from runner.testbed.host_pool import HostPool, PageCopy
from runner.testbed.load_back import LayerGate, index_copy_us
from runner.testbed.page_numbers import FreePages

_CALIBRATION_CYCLES = 20_000_000


@dataclass(slots=True)
class StreamGate:
    """The events of one request: layers' copies done, and when each layer was read."""

    copies: Sequence[PageCopy]
    tenures: Sequence[int]
    waits_for_index: bool
    started: torch.cuda.Event
    kv: list[torch.cuda.Event] = field(default_factory=list)
    index: list[torch.cuda.Event] = field(default_factory=list)
    read: list[torch.cuda.Event] = field(default_factory=list)
    is_late: bool = False

    def wait_until(self, layer: int) -> None:
        """The device waits; the host goes on at once."""
        stream = torch.cuda.current_stream()
        stream.wait_event(self.kv[layer])
        if self.waits_for_index:
            stream.wait_event(self.index[layer])
        self.read.append(_recorded(stream))

    def is_done(self) -> bool:
        return all(_has_come(event) for event in (self.kv[-1], self.index[-1], self.read[-1]))

    def races_lost(self) -> int:
        """Layers that were read before their index keys were there, by the device's own clock."""
        return sum(
            _milliseconds(read, there) > 0
            for read, there in zip(self.read, self.index, strict=True)
        )

    def seconds(self) -> float:
        """From the start to the last byte."""
        ends = (self.kv[-1], self.index[-1])
        return max(_milliseconds(self.started, end) for end in ends) / 1e3


class StreamLoadBack:
    """Copies in real time; what a run shows depends on the machine."""

    def __init__(
        self,
        host: HostPool,
        pages: FreePages,
        metrics: CacheMetrics,
        *,
        waits_for_index: bool,
        index_mb_per_s: float,
    ) -> None:
        self._host = host
        self._pages = pages
        self._metrics = metrics
        self.waits_for_index = waits_for_index
        pause_us = index_copy_us(host, index_mb_per_s)
        self._pause_cycles = round(pause_us * cycles_per_us()) if pause_us else 0
        self._kv_stream, self._index_stream = _side_stream(), _side_stream()
        self._under_way: list[StreamGate] = []

    def start(self, copies: Sequence[PageCopy]) -> LayerGate:
        current = torch.cuda.current_stream()
        tenures = [self._pages.tenure(copy.device) for copy in copies]
        gate = StreamGate(copies, tenures, self.waits_for_index, _recorded(current))
        for stream in (self._kv_stream, self._index_stream):
            stream.wait_event(gate.started)  # the pages' last readers are done
        for layer in range(self._host.kv.shape[0]):
            with torch.cuda.stream(self._kv_stream):
                for copy in copies:
                    self._host.load_kv(copy, layer)
                gate.kv.append(_recorded(self._kv_stream))
            with torch.cuda.stream(self._index_stream):
                if self._pause_cycles:
                    _pause(self._pause_cycles * len(copies))
                for copy in copies:
                    self._host.load_index(copy, layer)
                gate.index.append(_recorded(self._index_stream))
        self._under_way.append(gate)
        return gate

    def poll(self) -> None:
        for gate in [*self._under_way]:
            if gate.is_done():
                self._under_way.remove(gate)
                self._metrics.races_lost(gate.races_lost())
                self._metrics.load_took(gate.seconds())
            elif not gate.is_late:
                now = [self._pages.tenure(copy.device) for copy in gate.copies]
                late = sum(a != b for a, b in zip(gate.tenures, now, strict=True))
                gate.is_late = late > 0
                self._metrics.late_copies(late)

    def finish(self) -> None:
        torch.cuda.synchronize()
        self.poll()


def cycles_per_us() -> float:
    """How far a pause of so many cycles goes in a microsecond, by trial."""
    _pause(_CALIBRATION_CYCLES)
    begin = _recorded(torch.cuda.current_stream())
    _pause(_CALIBRATION_CYCLES)
    end = _recorded(torch.cuda.current_stream())
    end.synchronize()
    return _CALIBRATION_CYCLES / (_milliseconds(begin, end) * 1e3)


# What torch leaves untyped, in one place.


def _side_stream() -> torch.cuda.Stream:
    stream: torch.cuda.Stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    return stream


def _recorded(stream: torch.cuda.Stream) -> torch.cuda.Event:
    event: torch.cuda.Event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]
    event.record(stream)
    return event


def _has_come(event: torch.cuda.Event) -> bool:
    return bool(event.query())  # type: ignore[no-untyped-call]


def _milliseconds(begin: torch.cuda.Event, end: torch.cuda.Event) -> float:
    return float(begin.elapsed_time(end))


def _pause(cycles: int) -> None:
    torch.cuda._sleep(cycles)  # type: ignore[no-untyped-call]
