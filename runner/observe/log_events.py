"""Finds in a record of a log what the catalogue knows; counts and judges nothing."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from runner.observe.event_catalogue import EventCatalogue, EventClass, EventShape
from runner.observe.log_records import LogRecord

LINE_CAP = 4_000
_FALLBACK = "exception"
_RID_LIST = re.compile(r"[\w.-]+")
_OWN_GROUPS = frozenset({"rid", "rids", "room", "rank"})
_JSON_KIND = re.compile(r'\{.{0,300}?"event": ?"request\.(?:received|finished)"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class LogEvent:
    """`requests` are the names that it gives requests: ids, rooms. `fields` are as in the line."""

    kind: EventShape
    record: LogRecord
    line: str
    requests: tuple[str, ...]
    ranks: tuple[str, ...]
    fields: Mapping[str, str]

    @property
    def id(self) -> str:
        return self.kind.id

    @property
    def event_class(self) -> EventClass:
        return self.kind.event_class

    @property
    def request_ref(self) -> str | None:
        return self.requests[0] if self.requests else None


def events_in(record: LogRecord, catalogue: EventCatalogue) -> list[LogEvent]:
    """The events of one record, each once: a traceback ends with the sentence it began with."""
    record_lines = record.lines
    if _JSON_KIND.match(record_lines[0]):
        record_lines = (_request_summary(record.text) or "",)
    elif catalogue.quotes.match(record_lines[0][:LINE_CAP]):
        return []
    found: dict[tuple[str, tuple[str, ...]], LogEvent] = {}
    for line in record_lines:
        for event in _events_of_line(line[:LINE_CAP], record, catalogue):
            found.setdefault((event.id, event.requests), event)
    named = [event for event in found.values() if event.id != _FALLBACK]
    return named or list(found.values())


def _events_of_line(line: str, record: LogRecord, catalogue: EventCatalogue) -> Iterator[LogEvent]:
    if not catalogue.literals.search(line) and "request.finished" not in line:
        return
    for entry in catalogue.patterns:
        if match := entry.pattern.match(line):
            groups = {name: value for name, value in match.groupdict().items() if value}
            ranks = (groups["rank"],) if "rank" in groups else record.ranks
            yield LogEvent(
                kind=entry.kind,
                record=record,
                line=line,
                requests=_requests_of(groups),
                ranks=ranks,
                fields={n: v for n, v in groups.items() if n not in _OWN_GROUPS},
            )
            return


def _requests_of(groups: Mapping[str, str]) -> tuple[str, ...]:
    """Each request by its best name; a room that stands beside an id is the same request."""
    if rids := groups.get("rids"):
        return tuple(_RID_LIST.findall(rids))
    names = [groups[name] for name in ("rid", "room") if groups.get(name)]
    return tuple(names)


def _request_summary(text: str) -> str | None:
    """SGLang's request log in JSON as one line without the users' words; None if it is none."""
    try:
        value = json.loads(text)
        name, rid = value["event"], value.get("rid", "")
        reason = value["out"]["meta_info"]["finish_reason"]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    if not isinstance(reason, dict):
        return None
    message = str(reason.get("message", "")).replace("'", " ")
    return f"{name} rid='{rid}' finish_reason={reason.get('type')} message='{message}'"
