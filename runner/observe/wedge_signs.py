"""Counts the lines and the requests that are a sign of a wedge, as they come; keeps no line."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from runner.observe.log_events import LogEvent
from runner.observe.log_findings import RequestNames

MOST_NAMES = 100_000
# Of the other wedge events only those that cannot be a pause count without a second look.
_SIGNS = frozenset({"watchdog_timeout", "rpc_timeout", "hang_detected", "nccl_timeout"})


@dataclass(frozen=True, slots=True)
class WedgeCounts:
    """`lines` are all raw lines, `requests` the distinct requests that we did not cancel."""

    lines: int
    requests: int


@dataclass(slots=True)
class WedgeSigns:
    """What was seen so far: lines, how many of them name no request, and the names of the others.

    A line without a name is a request of its own. Beyond `MOST_NAMES` no further name is kept.
    """

    lines: int = 0
    nameless: int = 0
    _names: RequestNames = field(default_factory=RequestNames)
    _named: set[tuple[str, ...]] = field(default_factory=set)

    def add(self, events: Iterable[LogEvent]) -> None:
        signs = [event for event in events if is_wedge_sign(event)]
        self.lines += len(signs)
        self.nameless += sum(not event.requests for event in signs)
        named = [event for event in signs if event.requests]
        if named and len(self._named) < MOST_NAMES:
            self._names.learn(named)
            self._named.update(event.requests for event in named)

    def counts(self, *, own_cancellations: Collection[str]) -> WedgeCounts:
        """Without the requests that we cancelled, by any of their names."""
        requests: set[str] = set()
        for given in self._named:
            names = self._names.of_all(given)
            if not any(name in own_cancellations for name in (*given, *names)):
                requests.update(names)
        return WedgeCounts(lines=self.lines, requests=len(requests) + self.nameless)


def is_wedge_sign(event: LogEvent) -> bool:
    is_soft = event.fields.get("soft") == "True"
    return event.kind.wedge_sign or (event.id in _SIGNS and not is_soft)
