"""Follows the log of one service while it runs: bytes in, events out, and the tail kept."""

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from runner.observe.event_catalogue import EventCatalogue
from runner.observe.log_events import LogEvent
from runner.observe.log_findings import RequestNames
from runner.observe.log_follower import LogSource
from runner.observe.log_reading import LogReader
from runner.observe.log_records import LogNormalizer

TAIL_BYTES = 256 * 1024
_MAX_KEPT_BATCHES = 5_000
_MOST_LAST_PIECES = 16


@dataclass(frozen=True, slots=True)
class WedgeCounts:
    """`lines` are all raw lines, `requests` the distinct requests that we did not cancel."""

    lines: int
    requests: int


@dataclass(frozen=True, slots=True)
class LogNews:
    """What one look at a log brought."""

    content: bytes
    events: tuple[LogEvent, ...]


@dataclass(slots=True)
class ServiceLog:
    """`year` is for time stamps without one."""

    source: LogSource
    catalogue: EventCatalogue
    year: int
    reader: LogReader = field(init=False)
    _normalizer: LogNormalizer = field(init=False)
    _tail: deque[bytes] = field(default_factory=deque)
    _tail_bytes: int = 0

    def __post_init__(self) -> None:
        self.reader = LogReader(self.catalogue)
        self._normalizer = LogNormalizer(year=self.year)

    def look(self, *, is_last: bool = False) -> LogNews:
        """A record that may go on is held until a look that brings nothing, or the last one."""
        content = self._read(is_last)
        records = self._normalizer.feed(content) if content else []
        if is_last:
            records += self._normalizer.close()
        elif not content:
            records += self._normalizer.flush()
        self._keep_tail(content)
        events = self.reader.add(records)
        del self.reader.batches[:-_MAX_KEPT_BATCHES]
        return LogNews(content, tuple(events))

    def _read(self, is_last: bool) -> bytes:
        pieces = [self.source.read_new()]
        while is_last and pieces[-1] and len(pieces) < _MOST_LAST_PIECES:
            pieces.append(self.source.read_new())
        return b"".join(pieces)

    def close(self) -> None:
        self.source.close()

    def tail(self) -> bytes:
        """The last quarter of a mebibyte."""
        return b"".join(self._tail)[-TAIL_BYTES:]

    def _keep_tail(self, content: bytes) -> None:
        if not content:
            return
        self._tail.append(content[-TAIL_BYTES:])
        self._tail_bytes += len(self._tail[-1])
        while self._tail_bytes - len(self._tail[0]) >= TAIL_BYTES:
            self._tail_bytes -= len(self._tail.popleft())


def count_wedge_events(
    events: Iterable[LogEvent], *, own_cancellations: Collection[str]
) -> WedgeCounts:
    """Counts the lines that are a sign of a wedge; one without a name is a request of its own."""
    signs = [event for event in events if is_wedge_sign(event)]
    names = RequestNames()
    names.learn(signs)
    foreign = [
        names.of(event)
        for event in signs
        if not any(name in own_cancellations for name in (*event.requests, *names.of(event)))
    ]
    named = {name for each in foreign for name in each}
    return WedgeCounts(lines=len(signs), requests=len(named) + sum(not each for each in foreign))


def is_wedge_sign(event: LogEvent) -> bool:
    is_soft = event.fields.get("soft") == "True"
    return event.kind.wedge_sign or (event.id in _SIGNS and not is_soft)


# Of the other wedge events only those that cannot be a pause count without a second look.
_SIGNS = frozenset({"watchdog_timeout", "rpc_timeout", "hang_detected", "nccl_timeout"})
