"""Reads service log lines into events and counts them by request, our own cancellations apart."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from runner.observe.event_catalogue import EVENT_PATTERNS

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_LINE_CAP = 4000


@dataclass(frozen=True, slots=True)
class LogEvent:
    kind: str
    event_class: str
    request_ref: str | None
    line: str


@dataclass(frozen=True, slots=True)
class WedgeCounts:
    """`lines` are all raw lines, `requests` the distinct requests that we did not cancel."""

    lines: int
    requests: int


def read_line(line: str) -> LogEvent | None:
    """The event that a line reports, or None. The first pattern that fits names it."""
    text = _ANSI.sub("", line).rstrip("\r\n")
    for entry in EVENT_PATTERNS:
        match = entry.pattern.search(text)
        if match:
            groups = match.groupdict()
            request_ref = groups.get("rid") or groups.get("room")
            return LogEvent(entry.kind, entry.event_class, request_ref, text[:_LINE_CAP])
    return None


def count_wedge_events(
    events: Iterable[LogEvent], *, own_cancellations: Collection[str]
) -> WedgeCounts:
    """Counts the wedge lines; one that names no request counts as a request of its own."""
    wedge_events = [event for event in events if event.event_class == "wedge"]
    foreign = [event for event in wedge_events if event.request_ref not in own_cancellations]
    named = {event.request_ref for event in foreign if event.request_ref is not None}
    unnamed = sum(1 for event in foreign if event.request_ref is None)
    return WedgeCounts(lines=len(wedge_events), requests=len(named) + unnamed)
