"""Watches the services of one run while it is driven: scrapes, log pieces, events, peaks."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus

import httpx
from sqlmodel import SQLModel

from db.clock import Clock
from db.raw_bytes import raw_row
from db.tables import LogEventRow, MetricSampleRow
from db.vocabulary import RawKind
from runner.campaign.stack_shape import MetricRole
from runner.control.capped_page import NO_PAGE, fetch_page
from runner.observe.engine_readings import PageReading, read_page
from runner.observe.event_catalogue import EventCatalogue
from runner.observe.exposition import Sample, read_exposition
from runner.observe.log_events import LogEvent
from runner.observe.log_follower import LogSource
from runner.observe.metric_dialects import Dialect, dialect_of
from runner.observe.scrape import kept_samples
from runner.observe.service_log import ServiceLog, WedgeCounts, count_wedge_events
from runner.observe.wedge_watch import WedgeWatch

SCRAPE_PERIOD_S = 2.0
SCRAPE_DEADLINE_S = 5.0

RowSink = Callable[[Sequence[SQLModel]], None]


@dataclass(frozen=True, slots=True)
class ObservedService:
    """Where one service can be looked at; either source may be missing. The observer closes it."""

    name: str
    metrics_url: str | None
    log: LogSource | None
    dialect: Dialect | None = None


@dataclass(slots=True)
class _Watched:
    service: ObservedService
    log: ServiceLog | None
    latest: tuple[Sample, ...] = ()
    page: PageReading | None = None
    peak_running: float | None = None


@dataclass(slots=True)
class RunObserver:
    """Writes what it sees to `sink` as it sees it; keeps only peaks and events in memory."""

    run_id: int
    http: httpx.AsyncClient
    sink: RowSink
    clock: Clock
    services: Sequence[ObservedService]
    catalogue: EventCatalogue
    also_keep: Collection[str] = ()
    model: str | None = None
    period_s: float = SCRAPE_PERIOD_S
    wedges: WedgeWatch | None = None
    events: list[LogEvent] = field(default_factory=list)
    _watched: list[_Watched] = field(init=False)

    def __post_init__(self) -> None:
        self._watched = [_Watched(service, self._log_of(service)) for service in self.services]

    async def watch(self, stop: asyncio.Event) -> None:
        """Looks every `period_s` until `stop` is set, then once more for what came last."""
        while not stop.is_set():
            await self.look()
            try:
                await asyncio.wait_for(stop.wait(), timeout=self.period_s)
            except TimeoutError:
                continue
        await self.look(is_last=True)

    async def look(self, *, is_last: bool = False) -> None:
        """One scrape and one log piece of every service, all services at once."""
        await asyncio.gather(*(self._look_at(watched, is_last) for watched in self._watched))
        if self.wedges is not None:
            self.wedges.look(self.pages())

    def pages(self) -> dict[str, PageReading | None]:
        """Service -> what its metrics said at the last look, None where they could not be read."""
        return {each.service.name: each.page for each in self._watched}

    def close(self) -> None:
        """Gives back the logs that it follows."""
        for watched in self._watched:
            if watched.log is not None:
                watched.log.close()

    def forget_peaks(self) -> None:
        """What ran before now was another load; gauges may still show it."""
        for watched in self._watched:
            watched.peak_running = None

    def samples(self) -> tuple[Sample, ...]:
        """The latest values of all services that could be scraped."""
        return tuple(sample for watched in self._watched for sample in watched.latest)

    @property
    def peak_running(self) -> float | None:
        """The most requests seen running at once, summed over services; None if never said."""
        peaks = [w.peak_running for w in self._watched if w.peak_running is not None]
        return sum(peaks) if peaks else None

    def log_tail(self, service: str) -> bytes:
        """The end of a service's log as far as it was read; empty where it has none."""
        for watched in self._watched:
            if watched.service.name == service and watched.log is not None:
                return watched.log.tail()
        return b""

    def wedge_counts(self, own_cancellations: Collection[str]) -> WedgeCounts:
        return count_wedge_events(self.events, own_cancellations=own_cancellations)

    def _log_of(self, service: ObservedService) -> ServiceLog | None:
        if service.log is None:
            return None
        year = datetime.fromtimestamp(self.clock.utc_us() / 1e6, tz=UTC).year
        return ServiceLog(service.log, self.catalogue, year)

    async def _look_at(self, watched: _Watched, is_last: bool) -> None:
        if watched.log is not None:
            self._read_log(watched.service.name, watched.log, is_last)
        if watched.service.metrics_url is not None:
            await self._scrape(watched, watched.service.metrics_url)

    async def _scrape(self, watched: _Watched, url: str) -> None:
        watched.page = None
        try:
            page = await fetch_page(self.http, url, deadline_s=SCRAPE_DEADLINE_S)
            if page.status != HTTPStatus.OK:
                return
            every = read_exposition(page.content, content_type=page.content_type)
        except (*NO_PAGE, ValueError):
            # A gap in the series says it: a scrape that failed leaves no row, never a zero.
            return
        at_us = self.clock.utc_us()
        watched.latest = samples = kept_samples(
            every, also=(*self.also_keep, *_series_of(watched.service))
        )
        dialect = watched.service.dialect or dialect_of(every)
        if dialect is not None:
            watched.page = read_page(every, dialect, model=self.model)
            running = watched.page.totals().get(MetricRole.RUNNING)
            if running is not None:
                watched.peak_running = max(running, watched.peak_running or 0.0)
        name = watched.service.name
        raw = raw_row(self.run_id, RawKind.SCRAPE, page.content, at_us=at_us, service=name)
        self.sink([raw, *self._sample_rows(name, at_us, samples)])

    def _sample_rows(
        self, service: str, at_us: int, samples: Iterable[Sample]
    ) -> list[MetricSampleRow]:
        return [
            MetricSampleRow(
                run_id=self.run_id,
                service=service,
                at_us=at_us,
                name=sample.name,
                labels=dict(sample.labels),
                value=sample.value,
            )
            for sample in samples
            if sample.value == sample.value  # NaN is legal in a scrape and means "not known"
        ]

    def _read_log(self, service: str, log: ServiceLog, is_last: bool) -> None:
        news = log.look(is_last=is_last)
        at_us = self.clock.utc_us()
        self.events.extend(news.events)
        rows: list[SQLModel] = [
            LogEventRow(
                run_id=self.run_id,
                service=service,
                at_us=at_us,
                kind=event.id,
                event_class=event.event_class,
                request_ref=event.request_ref,
                line=event.line,
            )
            for event in news.events
        ]
        if news.content:
            raw = raw_row(
                self.run_id, RawKind.SERVICE_LOG, news.content, at_us=at_us, service=service
            )
            rows.insert(0, raw)
        if rows:
            self.sink(rows)


def _series_of(service: ObservedService) -> frozenset[str]:
    return service.dialect.series() if service.dialect is not None else frozenset()
