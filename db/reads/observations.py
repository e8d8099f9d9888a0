"""What was watched while a run was driven: metric series, log events, and the raw record."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection, func, select

from db.raw_bytes import decompress
from db.reads.frames import frame_of
from db.reads.relations import LOG_EVENT, METRIC_SAMPLE, RAW, columns_of, values
from db.tables.columns import Json, JsonList
from db.vocabulary import RawKind

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEventFacts:
    id: int
    service: str
    at_us: int
    kind: str
    event_class: str
    request_ref: str | None
    is_own_cancellation: bool
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleFacts:
    service: str
    at_us: int
    name: str
    labels: Json
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RawFacts:
    """One recorded piece without its bytes; `size_bytes` counts what there was, also if cut."""

    id: int
    turn_id: int | None
    kind: str
    service: str | None
    at_us: int
    size_bytes: int
    is_capped: bool


def metric_names(connection: Connection, run_id: int) -> list[str]:
    statement = (
        select(METRIC_SAMPLE.c.name)
        .where(METRIC_SAMPLE.c.run_id == run_id)
        .distinct()
        .order_by(METRIC_SAMPLE.c.name)
    )
    return list(connection.execute(statement).scalars())


def metric_samples(connection: Connection, run_id: int, names: Sequence[str]) -> "DataFrame":
    """Every sample of the series named: `service`, `at_us`, `name`, `labels`, `value`."""
    columns = ["service", "at_us", "name", "labels", "value"]
    statement = (
        select(*(METRIC_SAMPLE.c[column] for column in columns))
        .where(METRIC_SAMPLE.c.run_id == run_id, METRIC_SAMPLE.c.name.in_(names))
        .order_by(METRIC_SAMPLE.c.at_us)
    )
    return frame_of(connection, statement, columns)


def outer_samples(connection: Connection, run_id: int, names: Sequence[str]) -> list[SampleFacts]:
    """Of the series named, those of the first and the last scrape of each service, oldest first."""
    asked = (METRIC_SAMPLE.c.run_id == run_id, METRIC_SAMPLE.c.name.in_(names))
    ends = (
        select(
            METRIC_SAMPLE.c.service,
            func.min(METRIC_SAMPLE.c.at_us).label("first"),
            func.max(METRIC_SAMPLE.c.at_us).label("last"),
        )
        .where(*asked)
        .group_by(METRIC_SAMPLE.c.service)
        .subquery()
    )
    statement = (
        select(*columns_of(METRIC_SAMPLE, SampleFacts))
        .join(ends, ends.c.service == METRIC_SAMPLE.c.service)
        .where(*asked, METRIC_SAMPLE.c.at_us.in_((ends.c.first, ends.c.last)))
        .order_by(METRIC_SAMPLE.c.at_us, METRIC_SAMPLE.c.id)
    )
    return values(SampleFacts, connection.execute(statement))


def values_of_series(connection: Connection, run_id: int, name: str) -> list[tuple[str, float]]:
    """Each value that a series had in a run, once for each service that said it."""
    statement = (
        select(METRIC_SAMPLE.c.service, METRIC_SAMPLE.c.value)
        .where(METRIC_SAMPLE.c.run_id == run_id, METRIC_SAMPLE.c.name == name)
        .distinct()
        .order_by(METRIC_SAMPLE.c.service, METRIC_SAMPLE.c.value)
    )
    return [(row.service, row.value) for row in connection.execute(statement)]


def log_events(
    connection: Connection,
    run_id: int,
    *,
    from_us: int = 0,
    to_us: int | None = None,
    limit: int = 500,
) -> list[LogEventFacts]:
    """The newest events of a run up to `limit`, within the times given, oldest first."""
    statement = (
        select(*columns_of(LOG_EVENT, LogEventFacts))
        .where(LOG_EVENT.c.run_id == run_id, LOG_EVENT.c.at_us >= from_us)
        .order_by(LOG_EVENT.c.at_us.desc())
        .limit(limit)
    )
    if to_us is not None:
        statement = statement.where(LOG_EVENT.c.at_us <= to_us)
    return values(LogEventFacts, connection.execute(statement))[::-1]


def log_event_counts(connection: Connection, run_id: int) -> "DataFrame":
    """Lines and distinct requests by kind of event: `kind`, `event_class`, `lines`, `requests`."""
    columns = ["kind", "event_class", "lines", "requests"]
    statement = (
        select(
            LOG_EVENT.c.kind,
            LOG_EVENT.c.event_class,
            func.count().label("lines"),
            func.count(LOG_EVENT.c.request_ref.distinct()).label("requests"),
        )
        .where(LOG_EVENT.c.run_id == run_id)
        .group_by(LOG_EVENT.c.kind, LOG_EVENT.c.event_class)
        .order_by(func.count().desc(), LOG_EVENT.c.kind)
    )
    return frame_of(connection, statement, columns)


def log_event_counts_of_runs(connection: Connection, run_ids: Sequence[int]) -> "DataFrame":
    """The same of several runs together; a request is one of its run."""
    kind, event_class = LOG_EVENT.c.kind, LOG_EVENT.c.event_class
    of_each = (
        select(
            kind,
            event_class,
            func.count().label("lines"),
            func.count(LOG_EVENT.c.request_ref.distinct()).label("requests"),
        )
        .where(LOG_EVENT.c.run_id.in_(run_ids))
        .group_by(LOG_EVENT.c.run_id, kind, event_class)
        .subquery()
    )
    statement = (
        select(
            of_each.c.kind,
            of_each.c.event_class,
            func.sum(of_each.c.lines),
            func.sum(of_each.c.requests),
        )
        .group_by(of_each.c.kind, of_each.c.event_class)
        .order_by(of_each.c.kind, of_each.c.event_class)
    )
    return frame_of(connection, statement, ["kind", "event_class", "lines", "requests"])


def log_density(connection: Connection, run_id: int, *, bin_us: int) -> "DataFrame":
    """Log events a bin of time by class: `at_us` (start of the bin), `event_class`, `lines`."""
    columns = ["at_us", "event_class", "lines"]
    start = (LOG_EVENT.c.at_us - LOG_EVENT.c.at_us % bin_us).label("at_us")
    statement = (
        select(start, LOG_EVENT.c.event_class, func.count().label("lines"))
        .where(LOG_EVENT.c.run_id == run_id)
        .group_by(start, LOG_EVENT.c.event_class)
        .order_by(start, LOG_EVENT.c.event_class)
    )
    return frame_of(connection, statement, columns)


def raw_of_turns(connection: Connection, turn_ids: Sequence[int]) -> list[RawFacts]:
    """What is recorded of these turns, without the bytes."""
    statement = (
        select(*columns_of(RAW, RawFacts))
        .where(RAW.c.turn_id.in_(turn_ids))
        .order_by(RAW.c.turn_id, RAW.c.kind, RAW.c.id)
    )
    return values(RawFacts, connection.execute(statement))


def raw_of_run(connection: Connection, run_id: int, kinds: Sequence[RawKind]) -> list[RawFacts]:
    """What is recorded of a run itself (service logs, scrapes, reports), without the bytes."""
    statement = (
        select(*columns_of(RAW, RawFacts))
        .where(RAW.c.run_id == run_id, RAW.c.kind.in_(kinds))
        .order_by(RAW.c.kind, RAW.c.at_us)
    )
    return values(RawFacts, connection.execute(statement))


def raw_bytes(connection: Connection, raw_id: int) -> bytes | None:
    """The recorded bytes themselves, or None where there is no such record."""
    statement = select(RAW.c.content).where(RAW.c.id == raw_id)
    row = connection.execute(statement).one_or_none()
    if row is None:
        return None
    return decompress(row.content)


def raw_reads(connection: Connection, raw_id: int) -> JsonList:
    """[seconds since the request, bytes so far], as the client read them."""
    statement = select(RAW.c.reads).where(RAW.c.id == raw_id)
    return connection.execute(statement).scalar_one_or_none() or []
