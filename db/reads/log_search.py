"""Log events of one run that pass a filter: the newest ones, found within a time cap.

The events are looked through in pieces, from the end of the run on, until enough are found or the
time is spent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, false, func, not_, or_, select

from db.filters.terms import TEXT, Bound, Comparison, Filter, Term
from db.reads.observations import LogEventFacts
from db.reads.relations import LOG_EVENT, columns_of, values
from db.reads.stored_words import text_has
from db.reads.time_cap import TimeCap

MOST_EVENTS = 200

PIECE_EVENTS = 20_000
_SECOND_US = 1_000_000
_COLUMNS = {
    "kind": LOG_EVENT.c.kind,
    "class": LOG_EVENT.c.event_class,
    "service": LOG_EVENT.c.service,
    "request": LOG_EVENT.c.request_ref,
}


@dataclass(frozen=True, slots=True)
class LogSearch:
    """The events found, oldest first; `is_more` where older ones may pass too."""

    events: list[LogEventFacts]
    is_more: bool
    is_out_of_time: bool


@dataclass(frozen=True, slots=True)
class LogWindow:
    """The events of a run between two moments, both included; `origin_us` is where `t:` is 0."""

    run_id: int
    from_us: int = 0
    to_us: int | None = None
    origin_us: int = 0

    @property
    def conditions(self) -> Sequence[ColumnElement[bool]]:
        bounds = [LOG_EVENT.c.run_id == self.run_id, LOG_EVENT.c.at_us >= self.from_us]
        return bounds if self.to_us is None else [*bounds, LOG_EVENT.c.at_us <= self.to_us]


def search_log(
    connection: Connection,
    window: LogWindow,
    wanted: Filter,
    *,
    cap: TimeCap,
    limit: int = MOST_EVENTS,
    piece_events: int = PIECE_EVENTS,
) -> LogSearch:
    """The newest events of the window that pass, up to `limit`."""
    conditions = [_condition(term, window) for term in wanted.terms]
    found: list[LogEventFacts] = []
    to_us = window.to_us
    while len(found) <= limit:
        piece = LogWindow(window.run_id, window.from_us, to_us, window.origin_us)
        starts_us = _start_of_piece(connection, piece, piece_events)
        here = LogWindow(window.run_id, starts_us or window.from_us, to_us, window.origin_us)
        found += _newest(connection, here, conditions, limit + 1 - len(found))
        if starts_us is None or starts_us <= window.from_us:
            return _search(found, limit, is_out_of_time=False)
        to_us = starts_us - 1
        if cap.is_spent:
            return _search(found, limit, is_out_of_time=True)
    return _search(found, limit, is_out_of_time=False)


def _search(found: list[LogEventFacts], limit: int, *, is_out_of_time: bool) -> LogSearch:
    is_more = is_out_of_time or len(found) > limit
    return LogSearch(found[:limit][::-1], is_more, is_out_of_time)


def _start_of_piece(connection: Connection, window: LogWindow, events: int) -> int | None:
    """The moment that has so many events of the window behind it; None: it has no more than that.

    All events of that one moment belong to the piece.
    """
    statement = _newest_first(select(LOG_EVENT.c.at_us), window).limit(1).offset(events)
    return connection.execute(statement).scalar_one_or_none()


def _newest(
    connection: Connection,
    window: LogWindow,
    conditions: Sequence[ColumnElement[bool]],
    limit: int,
) -> list[LogEventFacts]:
    statement = _newest_first(select(*columns_of(LOG_EVENT, LogEventFacts)), window)
    return values(LogEventFacts, connection.execute(statement.where(*conditions).limit(limit)))


def _newest_first(statement: Select[Any], window: LogWindow) -> Select[Any]:
    return statement.where(*window.conditions).order_by(
        LOG_EVENT.c.at_us.desc(), LOG_EVENT.c.id.desc()
    )


def _condition(term: Term, window: LogWindow) -> ColumnElement[bool]:
    holds = or_(*(_is_so(term.key, value, window) for value in term.values))
    return not_(func.coalesce(holds, false())) if term.is_negated else holds


def _is_so(key: str, value: str | Bound, window: LogWindow) -> ColumnElement[bool]:
    if isinstance(value, Bound):
        return _compared(value, window)
    if key == TEXT:
        return text_has(LOG_EVENT.c.line, value)
    return _COLUMNS[key] == value


def _compared(bound: Bound, window: LogWindow) -> ColumnElement[bool]:
    at_us = LOG_EVENT.c.at_us
    then_us = window.origin_us + round(bound.number * _SECOND_US)
    match bound.comparison:
        case Comparison.AT_LEAST:
            return at_us >= then_us
        case Comparison.AT_MOST:
            return at_us <= then_us
        case Comparison.ABOVE:
            return at_us > then_us
        case Comparison.BELOW:
            return at_us < then_us
        case Comparison.EQUAL:
            return at_us.between(then_us - _SECOND_US // 2, then_us + _SECOND_US // 2)
