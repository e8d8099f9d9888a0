"""Reads a log as a whole: which alarms passed by themselves, which stayed, and the worst of them.

Pure: records in, a reading out. A line alone says little: a failed health check is a pause if
tokens flow afterwards, an abort is ours if we had ended the session before.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from runner.observe.batch_lines import BatchLine, read_batch_line
from runner.observe.event_catalogue import EventCatalogue, EventClass
from runner.observe.log_event_fields import described, heartbeat_gap_s, is_clients_doing
from runner.observe.log_events import LogEvent, events_in
from runner.observe.log_findings import LogFinding, RequestNames, finding_of, with_fields
from runner.observe.log_records import LogRecord
from runner.observe.log_stillness import stillness_findings
from runner.observe.own_ends import OwnEnds
from runner.observe.scrape_verdict import LONGEST_PAUSE_S
from runner.observe.server_life import ENDS, ServerLife, last_before, next_after

_VERDICT_OF = {
    EventClass.WEDGE: "wedge",
    EventClass.CRASH: "crash",
    EventClass.CORRUPTION: "corruption",
    EventClass.ABORT: "abort",
    EventClass.ERROR: "abort",
    EventClass.PARSER: "parser",
    EventClass.SLOW: "slow",
    EventClass.PRESSURE: "pressure",
}
_OURS_TO_END = frozenset({"client_abort", "request_aborted", "server_abort", "orphan_output"})
_MAY_PASS = frozenset({"health_fail", "health_503", "shm_wait", "probe_failed"})
_EXITS = ENDS | {"nccl_abort"}
_START_MARKS = ("server_args=", "non-default args: ")


@dataclass(frozen=True, slots=True)
class LogReading:
    """`verdict`: the worst that the log proves; `benign` where it proves nothing bad."""

    verdict: str
    findings: tuple[LogFinding, ...]
    records: int
    lines: int

    def to_json(self) -> dict[str, Any]:
        return {
            "verdict": self.verdict,
            "lines": self.lines,
            "records": self.records,
            "events": [finding.to_json() for finding in self.findings],
        }


@dataclass(slots=True)
class LogReader:
    """Takes records in any number of pieces; `reading` may be asked for at any time."""

    catalogue: EventCatalogue
    own: OwnEnds = field(default_factory=OwnEnds)
    events: list[LogEvent] = field(default_factory=list)
    batches: list[BatchLine] = field(default_factory=list)
    starts: list[LogRecord] = field(default_factory=list)
    records: int = 0
    lines: int = 0
    last: LogRecord | None = None

    def add(self, records: Iterable[LogRecord]) -> list[LogEvent]:
        """The events of these records."""
        found: list[LogEvent] = []
        for record in records:
            self.records += 1
            self.lines += record.physical_lines
            if self.last is None or (record.at_s or 0) >= (self.last.at_s or 0):
                self.last = record
            batch = read_batch_line(record)
            if batch is not None:
                self.batches.append(batch)
                continue
            if record.lines[0].startswith(_START_MARKS):
                self.starts.append(record)
            found.extend(events_in(record, self.catalogue))
        self.events.extend(found)
        return found

    def reading(self) -> LogReading:
        findings = _Assessment(self).findings()
        return LogReading(_verdict(findings, self), tuple(findings), self.records, self.lines)


def read_log(
    records: Sequence[LogRecord], catalogue: EventCatalogue, own: OwnEnds | None = None
) -> LogReading:
    reader = LogReader(catalogue, own or OwnEnds())
    reader.add(sorted(records, key=lambda record: record.number))
    return reader.reading()


class _Assessment:
    """One look at everything that a reader has taken in."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._names = RequestNames()
        self._names.learn(reader.events)
        self._lives: dict[str, ServerLife] = {}
        self._counts = Counter(event.id for event in reader.events)
        failed = [event for event in reader.events if event.id == "health_fail"]
        self._last_failure = failed[-1] if failed else None
        self._grouped: defaultdict[tuple[str, EventClass], list[LogEvent]] = defaultdict(list)

    def findings(self) -> list[LogFinding]:
        for event in self._reader.events:
            if not _is_equal_pages(event):
                self._grouped[event.id, self._class_of(event)].append(event)
        found = [
            described(finding_of(events, event_class, self._names), events, self.phase_of)
            for (kind, event_class), events in self._grouped.items()
            if kind != "ready"
        ]
        found += stillness_findings(self._reader.batches, self._reader.last)
        found += self._recovered(found)
        found += self._restarts()
        return sorted(found, key=lambda finding: _CLASS_ORDER.index(finding.event_class))

    def _class_of(self, event: LogEvent) -> EventClass:
        if event.id in _OURS_TO_END:
            return self._class_of_end(event)
        if event.id == "watchdog_timeout" and event.fields.get("soft") == "True":
            return EventClass.SLOW if self.passed(event) else EventClass.WEDGE
        if event.id in _MAY_PASS:
            return self._class_of_pause(event)
        return event.event_class

    def _class_of_end(self, event: LogEvent) -> EventClass:
        own, at_s = self._reader.own, event.record.own_s
        if any(own.did_end(name, at_s) for name in event.requests):
            return EventClass.BENIGN
        if event.id == "request_aborted":
            return (
                EventClass.BENIGN
                if is_clients_doing(event) and not own.knows()
                else EventClass.ABORT
            )
        if event.id == "client_abort" and own.knows() and event.requests:
            # Nobody of ours left: something between the client and the server cut it.
            return EventClass.ABORT
        return event.event_class

    def _class_of_pause(self, event: LogEvent) -> EventClass:
        if event.id == "shm_wait" and self.phase_of(event) == "startup":
            return EventClass.BENIGN
        if self.passed(event):
            return EventClass.SLOW
        if event.id == "health_503":
            failure = self._last_failure
            return self._class_of_pause(failure) if failure is not None else EventClass.SLOW
        if event.id == "probe_failed":
            return EventClass.SLOW
        gap_s = heartbeat_gap_s(event) or 0.0
        is_long = gap_s >= LONGEST_PAUSE_S or self._counts[event.id] > 1
        return EventClass.WEDGE if is_long else EventClass.SLOW

    def passed(self, event: LogEvent) -> bool:
        """Whether the same server made tokens afterwards, or came out of its start."""
        at, life = event.record.number, self._life_of(event)
        end, ready = next_after(life.ends, at), next_after(life.ready, at)
        if self.phase_of(event) == "startup":
            return ready is not None and (end is None or ready < end)
        restart = min((number for number in (end, ready) if number is not None), default=None)
        progress = next_after(life.progress, at)
        return progress is not None and (restart is None or progress < restart)

    def phase_of(self, event: LogEvent) -> str:
        """A notice before the server was ready, and before it served, is of its start."""
        at, life = event.record.number, self._life_of(event)
        last_life, last_end = last_before(life.signs, at), last_before(life.ends, at)
        if last_life is not None:
            return "serving" if last_end is None or last_end < last_life else "startup"
        if last_end is not None:
            return "startup"
        # The log begins after the server: what comes next tells what was before.
        ready, sign, end = (
            next_after(life.ready, at),
            next_after(life.signs, at),
            next_after(life.ends, at),
        )
        if end is not None and (sign is None or end < sign):
            return "serving"
        return "startup" if sign is None or ready == sign else "serving"

    def _life_of(self, event: LogEvent) -> ServerLife:
        source = event.record.source
        if source not in self._lives:
            self._lives[source] = ServerLife.of(
                self._reader.events, self._reader.batches, self._reader.starts, source
            )
        return self._lives[source]

    def _recovered(self, findings: Sequence[LogFinding]) -> list[LogFinding]:
        """One for each alarm after which the same server made tokens again."""
        alarms = [
            event
            for event in self._reader.events
            if event.id in {*_MAY_PASS, "watchdog_timeout"} and self.passed(event)
        ]
        if not alarms or not any(each.event_class is EventClass.SLOW for each in findings):
            return []
        first = alarms[0]
        follower = next(
            (
                batch
                for batch in self._reader.batches
                if batch.has_progress
                and batch.record.number > alarms[-1].record.number
                and batch.record.source == first.record.source
            ),
            None,
        )
        if follower is None:
            return []
        pause_s = None
        if follower.record.at_s is not None and first.record.at_s is not None:
            pause_s = follower.record.at_s - first.record.at_s
        means = "Tokens were made again after an alarm."
        finding = _good_news("recovered", means, follower.record, follower.record.lines[0])
        return [with_fields(finding, after_s=pause_s)]

    def _restarts(self) -> list[LogFinding]:
        """A server that came up after one had ended; `down_s` from that end to being ready."""
        ended: LogEvent | None = None
        found: list[LogFinding] = []
        for event in sorted(self._reader.events, key=lambda each: each.record.number):
            if event.id in _EXITS:
                ended = event
            elif event.id == "ready" and ended is not None:
                found.append(_restart(ended, event))
                ended = None
        return found


_CLASS_ORDER = list(EventClass)


def _restart(ended: LogEvent, ready: LogEvent) -> LogFinding:
    down_s = None
    if ended.record.at_s is not None and ready.record.at_s is not None:
        down_s = ready.record.at_s - ended.record.at_s
    means = "The server came up again; its counters start from zero."
    return with_fields(_good_news("restart", means, ready.record, ready.line), down_s=down_s)


def _good_news(kind: str, means: str, record: LogRecord, line: str) -> LogFinding:
    return LogFinding(
        kind,
        EventClass.INFO,
        count=1,
        lines=1,
        first_s=record.at_s,
        last_s=record.at_s,
        means=means,
        first_line=line,
        first_number=record.number,
    )


def _verdict(findings: Iterable[LogFinding], reader: LogReader) -> str:
    """The worst class, a crash left out after which the same server went on."""
    classes = {finding.event_class for finding in findings}
    if EventClass.CRASH in classes and _goes_on_after_crashes(reader):
        classes.discard(EventClass.CRASH)
    for event_class, verdict in _VERDICT_OF.items():
        if event_class in classes:
            return verdict
    return "benign"


def _goes_on_after_crashes(reader: LogReader) -> bool:
    crashes = [event for event in reader.events if event.event_class is EventClass.CRASH]
    last = max(event.record.number for event in crashes)
    later = [batch for batch in reader.batches if batch.record.number > last and batch.has_progress]
    restarts = [record.number for record in reader.starts if record.number > last]
    restarts += [each.record.number for each in reader.events if each.id == "ready"]
    first = crashes[0].record.number
    return bool(later) and not any(number > first for number in restarts)


def _is_equal_pages(event: LogEvent) -> bool:
    have = event.fields.get("have")
    return have is not None and have == event.fields.get("want")
