"""Watches the services of one run while it is driven: scrapes, log pieces, events, peaks."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from sqlmodel import SQLModel

from db.clock import Clock
from db.raw_bytes import raw_row
from db.tables import LogEventRow, MetricSampleRow
from db.vocabulary import RawKind
from runner.observe.exposition import Sample
from runner.observe.log_events import LogEvent, WedgeCounts, count_wedge_events, read_line
from runner.observe.log_follower import FileFollower
from runner.observe.scrape import parse_scrape, running_requests

SCRAPE_PERIOD_S = 2.0
SCRAPE_DEADLINE_S = 5.0

RowSink = Callable[[Sequence[SQLModel]], None]


@dataclass(frozen=True, slots=True)
class ObservedService:
    """Where one service can be looked at; either source may be missing."""

    name: str
    metrics_url: str | None
    log_path: Path | None


@dataclass(slots=True)
class _Watched:
    service: ObservedService
    follower: FileFollower | None
    latest: tuple[Sample, ...] = ()
    peak_running: float | None = None


@dataclass(slots=True)
class RunObserver:
    """Writes what it sees to `sink` as it sees it; keeps only peaks and events in memory."""

    run_id: int
    http: httpx.AsyncClient
    sink: RowSink
    clock: Clock
    services: Sequence[ObservedService]
    also_keep: Collection[str] = ()
    events: list[LogEvent] = field(default_factory=list)
    _watched: list[_Watched] = field(init=False)

    def __post_init__(self) -> None:
        self._watched = [
            _Watched(
                service,
                FileFollower(service.log_path, from_end=True) if service.log_path else None,
            )
            for service in self.services
        ]

    async def watch(self, stop: asyncio.Event) -> None:
        """Looks every two seconds until `stop` is set, then once more for what came last."""
        while not stop.is_set():
            await self.look()
            try:
                await asyncio.wait_for(stop.wait(), timeout=SCRAPE_PERIOD_S)
            except TimeoutError:
                continue
        await self.look(is_last=True)

    async def look(self, *, is_last: bool = False) -> None:
        """One scrape and one log piece of every service, all services at once."""
        await asyncio.gather(*(self._look_at(watched, is_last) for watched in self._watched))

    def samples(self) -> tuple[Sample, ...]:
        """The latest values of all services that could be scraped."""
        return tuple(sample for watched in self._watched for sample in watched.latest)

    @property
    def peak_running(self) -> float | None:
        """The most requests seen running at once, summed over services; None if never said."""
        peaks = [w.peak_running for w in self._watched if w.peak_running is not None]
        return sum(peaks) if peaks else None

    def wedge_counts(self, own_cancellations: Collection[str]) -> WedgeCounts:
        return count_wedge_events(self.events, own_cancellations=own_cancellations)

    async def _look_at(self, watched: _Watched, is_last: bool) -> None:
        if watched.follower is not None:
            self._read_log(watched.service.name, watched.follower, is_last)
        if watched.service.metrics_url is not None:
            await self._scrape(watched, watched.service.metrics_url)

    async def _scrape(self, watched: _Watched, url: str) -> None:
        try:
            response = await self.http.get(url, timeout=SCRAPE_DEADLINE_S)
            response.raise_for_status()
            samples = parse_scrape(response.content, also=self.also_keep)
        except (httpx.HTTPError, ValueError):
            # A gap in the series says it: a scrape that failed leaves no row, never a zero.
            return
        at_us = self.clock.utc_us()
        watched.latest = samples
        running = running_requests(samples)
        if running is not None:
            watched.peak_running = max(running, watched.peak_running or 0.0)
        name = watched.service.name
        raw = raw_row(self.run_id, RawKind.SCRAPE, response.content, at_us=at_us, service=name)
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

    def _read_log(self, service: str, follower: FileFollower, is_last: bool) -> None:
        piece = follower.read_new(is_last=is_last)
        if not piece.content:
            return
        at_us = self.clock.utc_us()
        seen = [event for event in map(read_line, piece.lines) if event is not None]
        self.events.extend(seen)
        rows = [
            LogEventRow(
                run_id=self.run_id,
                service=service,
                at_us=at_us,
                kind=event.kind,
                event_class=event.event_class,
                request_ref=event.request_ref,
                line=event.line,
            )
            for event in seen
        ]
        raw = raw_row(self.run_id, RawKind.SERVICE_LOG, piece.content, at_us=at_us, service=service)
        self.sink([raw, *rows])
