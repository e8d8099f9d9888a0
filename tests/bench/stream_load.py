"""What the clients are to take in, and how fast it could be taken in at best."""

import heapq
from itertools import islice
from typing import NamedTuple

from tests.bench.stub_server import answer_lengths

CHUNKS = 200
"""Of an answer on average."""


class Load(NamedTuple):
    """`pace_ms` is the time between two chunks of a stream; 0 is as fast as it goes.

    `spread`: by which share of itself an answer may be longer or shorter than the average. 0: all
    answers that begin together end in the same tick.
    """

    streams: int
    requests_each: int
    pace_ms: int
    spread: float

    @property
    def requests(self) -> int:
        return self.streams * self.requests_each

    @property
    def lengths(self) -> list[int]:
        """Chunks by request, in the order of the requests."""
        return list(islice(answer_lengths(CHUNKS, self.spread), self.requests))

    @property
    def chunks(self) -> int:
        return sum(self.lengths)

    @property
    def ideal_wall_s(self) -> float | None:
        """With a client that sends the next request of a stream as soon as its answer has ended.

        An answer takes a tick before its first chunk and one after its last.
        """
        if not self.pace_ms:
            return None
        free_at_ticks = [0] * self.streams
        for length in self.lengths:
            heapq.heappush(free_at_ticks, heapq.heappop(free_at_ticks) + length + 2)
        return max(free_at_ticks) * self.pace_ms / 1000

    def __str__(self) -> str:
        if not self.pace_ms:
            return f"{self.streams} streams, as fast as it goes"
        ends = "ending one by one" if self.spread else "all ending in the same tick"
        return f"{self.streams} streams, a chunk each {self.pace_ms} ms, {ends}"


ALL_AT_ONCE = Load(streams=500, requests_each=2, pace_ms=20, spread=0)
MANY = Load(streams=2_000, requests_each=1, pace_ms=200, spread=0.5)
LOADS = (
    Load(streams=80, requests_each=36, pace_ms=0, spread=0),
    Load(streams=80, requests_each=3, pace_ms=20, spread=0.5),
    Load(streams=500, requests_each=2, pace_ms=20, spread=0.5),
    ALL_AT_ONCE,
    MANY,
)
