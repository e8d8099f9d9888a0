"""What a log showed, kind by kind: how many events, of how many requests, where, how bad."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from runner.observe.event_catalogue import EventClass
from runner.observe.log_events import LogEvent


@dataclass(frozen=True, slots=True)
class LogFinding:
    """All events of one kind and one class. `lines` are raw, `count` is of events."""

    kind: str
    event_class: EventClass
    count: int
    lines: int
    requests: tuple[str, ...] = ()
    ranks: tuple[str, ...] = ()
    first_s: float | None = None
    last_s: float | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    means: str = ""
    first_line: str = ""
    first_number: int = 0

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "class": str(self.event_class),
            "count": self.count,
            "lines": self.lines,
            "unique_requests": len(self.requests),
            "requests": list(self.requests[:20]),
            "ranks": list(self.ranks),
            "first_s": self.first_s,
            "last_s": self.last_s,
            **self.fields,
            "means": self.means,
            "first_line_number": self.first_number,
            "first_line": self.first_line[:500],
        }


class RequestNames:
    """One name for each request, whichever of its names a line uses."""

    def __init__(self) -> None:
        self._name_of: dict[str, str] = {}

    def learn(self, events: Iterable[LogEvent]) -> None:
        for event in events:
            if len(event.requests) == 2 and not event.fields.get("rids"):
                rid, room = event.requests
                if room.isdecimal() and not rid.isdecimal():
                    self._name_of.setdefault(room, rid)

    def of(self, event: LogEvent) -> tuple[str, ...]:
        return self.of_all(event.requests)

    def of_all(self, given: Iterable[str]) -> tuple[str, ...]:
        """Each request of these once, by its one name."""
        return tuple(dict.fromkeys(self._name_of.get(name, name) for name in given))


def finding_of(
    events: Sequence[LogEvent], event_class: EventClass, names: RequestNames
) -> LogFinding:
    """Events of one kind, at least one. Those of one episode count once."""
    first = events[0]
    times = [event.record.at_s for event in events if event.record.at_s is not None]
    requests = dict.fromkeys(name for event in events for name in names.of(event))
    ranks = dict.fromkeys(rank for event in events for rank in event.ranks)
    return LogFinding(
        kind=first.id,
        event_class=event_class,
        count=len(events) if first.kind.episode_s is None else _episodes(events),
        lines=len(events),
        requests=tuple(requests),
        ranks=tuple(ranks),
        first_s=min(times) if times else None,
        last_s=max(times) if times else None,
        means=first.kind.means,
        first_line=first.line,
        first_number=first.record.number,
    )


def with_fields(finding: LogFinding, **fields: Any) -> LogFinding:
    known = {name: value for name, value in fields.items() if value is not None}
    return replace(finding, fields={**finding.fields, **known})


def _episodes(events: Sequence[LogEvent]) -> int:
    """Lines of many processes that tell of one thing; without times all are of one."""
    count, last_s = 0, None
    for event in events:
        at_s, window_s = event.record.at_s, event.kind.episode_s or 0.0
        if count == 0 or (at_s is not None and last_s is not None and at_s - last_s > window_s):
            count += 1
        last_s = at_s if at_s is not None else last_s
    return count
