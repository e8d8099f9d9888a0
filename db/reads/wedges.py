"""What stood still while a run was driven: spans with their victims, black boxes, stall cohorts.

Everything a page draws of it is here as values; it computes no rule and judges nothing again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, func, select

from db.reads.relations import LOG_EVENT, RAW, RUN, SESSION, WEDGE
from db.tables.columns import Json

_LINE_CLASSES = ("wedge", "crash", "abort")


@dataclass(frozen=True, slots=True, kw_only=True)
class WedgeVictim:
    """A request that made no token in a span. `session_id` is None until its session is stored."""

    request_id: str
    session_index: int | None
    session_id: int | None
    silence_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BlackBoxItem:
    """One thing that was kept at a wedge, or why not. `raw_id` leads to its bytes, if any.

    `size_bytes` counts what there was; `is_capped` where less of it was kept.
    """

    kind: str
    service: str
    said: str
    size_bytes: int
    raw_id: int | None
    is_capped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WedgeSpan:
    """`ended_at_us` and `seconds` are None where it had no end when the watch was over.

    `log_lines` are lines of class wedge, crash or abort that the services wrote within the span,
    `log_requests` the distinct requests that these name; those that we cancelled are left out.
    """

    id: int
    started_at_us: int
    confirmed_at_us: int | None
    ended_at_us: int | None
    seconds: float | None
    end: str | None
    rule: str
    where: tuple[str, ...]
    confirmed_by: str
    open_requests: int
    victims: tuple[WedgeVictim, ...]
    box: tuple[BlackBoxItem, ...]
    log_lines: int
    log_requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StallCohort:
    """Requests that paused for 5 s or more and went on within 50 ms of one another."""

    released_at_us: int
    spread_ms: float
    longest_s: float
    request_ids: tuple[str, ...]
    session_indices: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryFacts:
    answered: bool
    took_s: float
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogReading:
    """How far the reading of a service's log was behind. `rows_left_out`: events without a row.

    With `unread_bytes` above zero the counts of its lines are too low.
    """

    service: str
    most_behind_bytes: int
    unread_bytes: int
    rows_left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStillness:
    """All of one run. `longest_pause_s` is None and the rest empty until the run has ended, but
    for the spans, which are stored as they are found.
    """

    spans: tuple[WedgeSpan, ...]
    cohorts: tuple[StallCohort, ...]
    canaries: tuple[CanaryFacts, ...]
    stalls: int
    longest_pause_s: float | None
    logs: tuple[LogReading, ...] = ()

    @property
    def seconds(self) -> float:
        """Of the spans that have an end."""
        return sum(span.seconds or 0.0 for span in self.spans)


def run_stillness(connection: Connection, run_id: int) -> RunStillness:
    """Empty where nothing stood still, and for a run that is not known."""
    facts = connection.execute(
        select(RUN.c.wedge_facts).where(RUN.c.id == run_id)
    ).scalar_one_or_none()
    told: Json = facts or {}
    return RunStillness(
        spans=wedge_spans(connection, run_id),
        cohorts=tuple(_cohort(each) for each in told.get("stall_cohorts") or ()),
        canaries=tuple(CanaryFacts(**each) for each in told.get("canaries") or ()),
        stalls=told.get("stalls", 0),
        longest_pause_s=told.get("longest_pause_s"),
        logs=tuple(
            LogReading(service=service, **facts)
            for service, facts in (told.get("logs") or {}).items()
        ),
    )


def wedge_spans(connection: Connection, run_id: int) -> tuple[WedgeSpan, ...]:
    """In the order of time."""
    rows = connection.execute(
        select(WEDGE).where(WEDGE.c.run_id == run_id).order_by(WEDGE.c.started_at_us, WEDGE.c.id)
    ).all()
    session_ids = _session_ids(connection, run_id, rows)
    return tuple(_span(connection, row, session_ids) for row in rows)


def _span(connection: Connection, row: Row[Any], session_ids: Mapping[int, int]) -> WedgeSpan:
    evidence: Json = row.evidence
    lines, requests = _log_counts(connection, row)
    seconds = None if row.ended_at_us is None else (row.ended_at_us - row.started_at_us) / 1e6
    return WedgeSpan(
        id=row.id,
        started_at_us=row.started_at_us,
        confirmed_at_us=evidence.get("confirmed_at_us"),
        ended_at_us=row.ended_at_us,
        seconds=seconds,
        end=evidence.get("end"),
        rule=evidence.get("rule", ""),
        where=tuple(evidence.get("where") or (row.service,)),
        confirmed_by=evidence.get("confirmed_by", ""),
        open_requests=evidence.get("open_requests", 0),
        victims=tuple(_victim(each, session_ids) for each in row.victims),
        box=_box(connection, row),
        log_lines=lines,
        log_requests=requests,
    )


def _victim(told: Mapping[str, Any], session_ids: Mapping[int, int]) -> WedgeVictim:
    index = told.get("session_index")
    return WedgeVictim(
        request_id=told.get("request_id", ""),
        session_index=index,
        session_id=session_ids.get(index) if index is not None else None,
        silence_s=told.get("silence_s", 0.0),
    )


def _session_ids(connection: Connection, run_id: int, spans: Sequence[Row[Any]]) -> dict[int, int]:
    """Session index -> session id of all victims."""
    indices = sorted(_indices(spans))
    if not indices:
        return {}
    statement = select(SESSION.c.session_index, SESSION.c.id).where(
        SESSION.c.run_id == run_id, SESSION.c.session_index.in_(indices)
    )
    return {row.session_index: row.id for row in connection.execute(statement)}


def _indices(spans: Iterable[Row[Any]]) -> set[int]:
    found = {victim.get("session_index") for span in spans for victim in span.victims}
    return {index for index in found if isinstance(index, int)}


def _box(connection: Connection, row: Row[Any]) -> tuple[BlackBoxItem, ...]:
    """What evidence lists, with the bytes that were stored at the same moment."""
    listed = row.evidence.get("black_box") or ()
    kinds = {each["kind"] for each in listed}
    statement = select(RAW.c.id, RAW.c.kind, RAW.c.service, RAW.c.is_capped).where(
        RAW.c.run_id == row.run_id,
        RAW.c.kind.in_(sorted(kinds)),
        RAW.c.at_us == row.evidence.get("confirmed_at_us"),
    )
    kept = {(each.kind, each.service): each for each in connection.execute(statement)}
    return tuple(_box_item(each, kept.get((each["kind"], each["service"]))) for each in listed)


def _box_item(told: Mapping[str, Any], kept: Any | None) -> BlackBoxItem:
    return BlackBoxItem(
        kind=told["kind"],
        service=told["service"],
        said=told.get("said", ""),
        size_bytes=told.get("size_bytes", 0),
        raw_id=None if kept is None else kept.id,
        is_capped=kept is not None and kept.is_capped,
    )


def _log_counts(connection: Connection, row: Row[Any]) -> tuple[int, int]:
    """Lines, and distinct requests."""
    statement = select(func.count(), func.count(LOG_EVENT.c.request_ref.distinct())).where(
        LOG_EVENT.c.run_id == row.run_id,
        LOG_EVENT.c.at_us >= row.started_at_us,
        LOG_EVENT.c.event_class.in_(_LINE_CLASSES),
        LOG_EVENT.c.is_own_cancellation.is_(False),
    )
    if row.ended_at_us is not None:
        statement = statement.where(LOG_EVENT.c.at_us <= row.ended_at_us)
    lines, requests = connection.execute(statement).one()
    return lines, requests


def _cohort(told: Mapping[str, Any]) -> StallCohort:
    return StallCohort(
        released_at_us=told.get("released_at_us", 0),
        spread_ms=told.get("spread_ms", 0.0),
        longest_s=told.get("longest_s", 0.0),
        request_ids=tuple(told.get("requests") or ()),
        session_indices=tuple(told.get("session_indices") or ()),
    )
