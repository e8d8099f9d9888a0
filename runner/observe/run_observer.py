"""Watches the services of one run while it is driven: scrapes, log pieces, events, peaks.

What takes time - reading, parsing, compressing, handing over to a store that is behind - happens in
threads, so that no answer of the run waits for it.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Any

import httpx
from sqlmodel import SQLModel

from db.clock import Clock
from db.raw_bytes import CAP_BYTES, raw_row
from db.tables.observations import LogEventRow, MetricSampleRow
from db.vocabulary import RawKind
from runner.campaign.stack_shape import MetricRole, ServiceRole
from runner.control.capped_page import NO_PAGE, Page, fetch_page, said_by
from runner.observe.daemon_thread import in_daemon_thread
from runner.observe.engine_readings import PageReading, read_page
from runner.observe.event_catalogue import EventCatalogue
from runner.observe.exposition import Sample, read_exposition
from runner.observe.log_events import LogEvent
from runner.observe.log_follower import LogSource
from runner.observe.metric_dialects import Dialect, dialect_of
from runner.observe.scrape import KEPT_SERIES, kept_samples
from runner.observe.service_log import LogNews, LookBudget, ServiceLog
from runner.observe.wedge_signs import WedgeCounts, WedgeSigns
from runner.observe.wedge_spans import PageTimes
from runner.observe.wedge_watch import WedgeWatch

SCRAPE_PERIOD_S = 2.0
SCRAPE_DEADLINE_S = 5.0
LOOK_DEADLINE_S = 6.0
LAST_LOOK_DEADLINE_S = 20.0
WATCHED_LOOK_S = 1.0
"""How long one look of a watch waits for a page or a log: a server that is frozen gives none, and
the looks at our own requests must not wait with it."""

_MOST_ROWS_OF_A_KIND = 10_000
_NEAREST_TO_DECODING = (
    (ServiceRole.ENGINE, ServiceRole.DECODE),
    (ServiceRole.ROUTER,),
    (ServiceRole.PREFILL,),
)

RowSink = Callable[[Sequence[SQLModel]], None]


@dataclass(frozen=True, slots=True)
class ObservedService:
    """Where one service can be looked at; either source may be missing. The observer closes it."""

    name: str
    metrics_url: str | None
    log: LogSource | None
    dialect: Dialect | None = None
    role: ServiceRole = ServiceRole.ENGINE


@dataclass(slots=True)
class _Scraped:
    """What one page of metrics said; `reading` is None where it is in no known dialect."""

    samples: tuple[Sample, ...]
    reading: PageReading | None
    times: PageTimes


@dataclass(slots=True)
class LogLag:
    """How far the reading of one log was behind, in bytes. `unread`: at the end of the watch."""

    now: int = 0
    most: int = 0
    unread: int = 0
    rows_left_out: int = 0

    def note(self, behind_bytes: int) -> None:
        self.now = behind_bytes
        self.most = max(self.most, behind_bytes)


@dataclass(slots=True)
class _Watched:
    service: ObservedService
    log: ServiceLog | None
    latest: tuple[Sample, ...] = ()
    page: PageReading | None = None
    page_times: PageTimes | None = None
    peak_running: float | None = None
    lag: LogLag = field(default_factory=LogLag)
    rows_of_kind: dict[str, int] = field(default_factory=dict)
    reading: "asyncio.Future[list[LogEvent]] | None" = None
    scraping: "asyncio.Task[_Scraped | str] | None" = None
    page_trouble: str | None = None


@dataclass(slots=True)
class RunObserver:
    """Writes what it sees to `sink` as it sees it; keeps only peaks and counts in memory.

    `sink` is called from threads, `on_events` on the loop, with the service whose log it is. Of one
    kind of event, a service gets `most_rows_of_a_kind` rows in a run; lines beyond are counted and
    kept as raw bytes.
    """

    run_id: int
    http: httpx.AsyncClient
    sink: RowSink
    clock: Clock
    services: Sequence[ObservedService]
    catalogue: EventCatalogue
    also_keep: Collection[str] = ()
    model: str | None = None
    period_s: float = SCRAPE_PERIOD_S
    look_deadline_s: float = LOOK_DEADLINE_S
    last_look_deadline_s: float = LAST_LOOK_DEADLINE_S
    log_budget: LookBudget = field(default_factory=LookBudget)
    most_rows_of_a_kind: int = _MOST_ROWS_OF_A_KIND
    wedges: WedgeWatch | None = None
    on_events: Callable[[str, Sequence[LogEvent]], None] | None = None
    signs: WedgeSigns = field(default_factory=WedgeSigns)
    _watched: list[_Watched] = field(init=False)

    def __post_init__(self) -> None:
        self._watched = [_Watched(service, self._log_of(service)) for service in self.services]

    async def watch(self, stop: asyncio.Event) -> None:
        """Looks every `period_s` until `stop` is set, then once more for what came last."""
        while not stop.is_set():
            await self.look(patience_s=WATCHED_LOOK_S)
            try:
                await asyncio.wait_for(stop.wait(), timeout=self.period_s)
            except TimeoutError:
                continue
        await self.look(is_last=True)

    async def look(self, *, is_last: bool = False, patience_s: float | None = None) -> None:
        """One scrape and one log piece of every service, all services at once.

        What is not done after `patience_s` (`look_deadline_s` if None) goes on, and is awaited by
        the next look. The last look reads on for twenty seconds, until nothing is left.
        """
        wait_s = self.look_deadline_s if patience_s is None else patience_s
        log_wait_s = self.last_look_deadline_s if is_last else wait_s
        await asyncio.gather(
            *(self._look_at_page(watched, wait_s) for watched in self._watched),
            *(self._look_at_log(watched, is_last, log_wait_s) for watched in self._watched),
        )
        if self.wedges is not None:
            self.wedges.look(
                self.pages(),
                {w.service.name: w.page_times for w in self._watched if w.page_times is not None},
            )

    def pages(self) -> dict[str, PageReading | None]:
        """Service -> what its metrics said at the last look, None where they could not be read."""
        return {each.service.name: each.page for each in self._watched}

    def close(self) -> None:
        """Gives up a scrape that is under way, and gives back the logs that it follows."""
        for watched in self._watched:
            if watched.scraping is not None:
                watched.scraping.cancel()
            log, reading = watched.log, watched.reading
            if log is None:
                continue
            if reading is not None and not reading.done():
                reading.add_done_callback(partial(_close, log))
            else:
                log.close()

    def forget_peaks(self) -> None:
        """What ran before now was another load; gauges may still show it."""
        for watched in self._watched:
            watched.peak_running = None

    def samples(self) -> tuple[Sample, ...]:
        """The latest values of all services that could be scraped."""
        return tuple(sample for watched in self._watched for sample in watched.latest)

    @property
    def peak_running(self) -> float | None:
        """The most requests seen running at once, summed over services; None if never said.

        A router and prefill count a request that decode counts too: each is asked only where no
        service nearer to the decoding said anything.
        """
        for roles in _NEAREST_TO_DECODING:
            asked = [each for each in self._watched if each.service.role in roles]
            peaks = [each.peak_running for each in asked if each.peak_running is not None]
            if peaks:
                return sum(peaks)
        return None

    def log_tail(self, service: str) -> bytes:
        """The end of a service's log as far as it was read; empty where it has none."""
        for watched in self._watched:
            if watched.service.name == service and watched.log is not None:
                return watched.log.tail()
        return b""

    def wedge_counts(self, own_cancellations: Collection[str]) -> WedgeCounts:
        return self.signs.counts(own_cancellations=own_cancellations)

    def lags(self) -> dict[str, LogLag]:
        """Service -> how far behind the reading of its log was."""
        return {each.service.name: each.lag for each in self._watched if each.log is not None}

    def log_troubles(self) -> list[str]:
        """A sentence for each log that cannot be read now."""
        return [
            f"the log of {each.service.name}: {each.log.trouble}"
            for each in self._watched
            if each.log is not None and each.log.trouble is not None
        ]

    def page_troubles(self) -> dict[str, str]:
        """Service -> why its metrics could not be read at the last look, in a few words."""
        return {
            each.service.name: each.page_trouble
            for each in self._watched
            if each.page_trouble is not None
        }

    def facts(self) -> dict[str, Any]:
        """What a reader of the run must know of its logs: where reading was behind, and by what."""
        return {
            name: {
                "most_behind_bytes": lag.most,
                "unread_bytes": lag.unread,
                "rows_left_out": lag.rows_left_out,
            }
            for name, lag in self.lags().items()
        }

    def _log_of(self, service: ObservedService) -> ServiceLog | None:
        if service.log is None:
            return None
        year = datetime.fromtimestamp(self.clock.utc_us() / 1e6, tz=UTC).year
        return ServiceLog(service.log, self.catalogue, year, self.log_budget)

    async def _look_at_log(self, watched: _Watched, is_last: bool, patience_s: float) -> None:
        if watched.log is None:
            return
        began_s = self.clock.monotonic_s()
        while True:
            left_s = patience_s - (self.clock.monotonic_s() - began_s)
            if watched.reading is None:
                watched.reading = in_daemon_thread(
                    partial(self._read_log, watched, watched.log, is_last), name="log"
                )
            if not await _is_done(watched.reading, left_s):
                break
            events, watched.reading = watched.reading.result(), None
            self.signs.add(events)
            if self.on_events is not None and events:
                self.on_events(watched.service.name, events)
            if not (is_last and watched.lag.now and left_s > 0):
                break
        watched.lag.unread = watched.lag.now if is_last else 0

    def _read_log(self, watched: _Watched, log: ServiceLog, is_last: bool) -> list[LogEvent]:
        """One look of a log, in a thread."""
        news = log.look(is_last=is_last)
        watched.lag.note(news.behind_bytes)
        rows = self._log_rows(watched, news)
        if rows:
            self.sink(rows)
        return list(news.events)

    def _log_rows(self, watched: _Watched, news: LogNews) -> list[SQLModel]:
        service, at_us = watched.service.name, self.clock.utc_us()
        raws: list[SQLModel] = [
            raw_row(
                self.run_id,
                RawKind.SERVICE_LOG,
                news.content[start : start + CAP_BYTES],
                at_us=at_us,
                service=service,
            )
            for start in range(0, len(news.content), CAP_BYTES)
        ]
        events = [
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
            if self._may_have_row(watched, event)
        ]
        return [*raws, *events]

    def _may_have_row(self, watched: _Watched, event: LogEvent) -> bool:
        count = watched.rows_of_kind[event.id] = watched.rows_of_kind.get(event.id, 0) + 1
        if count > self.most_rows_of_a_kind:
            watched.lag.rows_left_out += 1
        return count <= self.most_rows_of_a_kind

    async def _look_at_page(self, watched: _Watched, patience_s: float) -> None:
        url = watched.service.metrics_url
        if url is None:
            return
        watched.page = None
        if watched.scraping is None:
            watched.scraping = asyncio.create_task(
                self._scrape(watched.service, url), name="scrape"
            )
        if not await _is_done(watched.scraping, patience_s):
            watched.page_trouble = f"no answer within {patience_s:g} s"
            return
        scraped, watched.scraping = watched.scraping.result(), None
        watched.page_trouble = scraped if isinstance(scraped, str) else None
        if not isinstance(scraped, str):
            self._take(watched, scraped)

    async def _scrape(self, service: ObservedService, url: str) -> _Scraped | str:
        """The page, or why there is none. A scrape that failed leaves no row, never a zero."""
        asked_s = asyncio.get_running_loop().time()
        try:
            page = await fetch_page(self.http, url, deadline_s=SCRAPE_DEADLINE_S)
        except NO_PAGE as error:
            return said_by(error, deadline_s=SCRAPE_DEADLINE_S)
        if page.status != HTTPStatus.OK:
            return f"status {page.status}"
        times = PageTimes(asked_s, asyncio.get_running_loop().time())
        digest = partial(self._digest, service, page, self.clock.utc_us(), times)
        return await in_daemon_thread(digest, name="scrape")

    def _take(self, watched: _Watched, scraped: _Scraped) -> None:
        watched.latest, watched.page = scraped.samples, scraped.reading
        watched.page_times = scraped.times
        if scraped.reading is None:
            return
        running = scraped.reading.totals().get(MetricRole.RUNNING)
        if running is not None:
            watched.peak_running = max(running, watched.peak_running or 0.0)

    def _digest(
        self, service: ObservedService, page: Page, at_us: int, times: PageTimes
    ) -> _Scraped | str:
        """Reads and stores a page, in a thread; or says why it is no page of metrics."""
        also = (*self.also_keep, *_series_of(service))
        try:
            every = read_exposition(
                page.content, content_type=page.content_type, wanted={*KEPT_SERIES, *also}
            )
        except ValueError as error:
            return str(error)
        samples = kept_samples(every, also=also)
        dialect = service.dialect or dialect_of(every)
        reading = read_page(every, dialect, model=self.model) if dialect is not None else None
        raw = raw_row(self.run_id, RawKind.SCRAPE, page.content, at_us=at_us, service=service.name)
        self.sink([raw, *self._sample_rows(service.name, at_us, samples)])
        return _Scraped(samples, reading, times)

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


async def _is_done(future: "asyncio.Future[Any]", timeout_s: float) -> bool:
    """Waits for it, and leaves it alone where it takes longer."""
    await asyncio.wait([future], timeout=max(0.0, timeout_s))
    return future.done()


def _close(log: ServiceLog, _: object) -> None:
    log.close()


def _series_of(service: ObservedService) -> frozenset[str]:
    return service.dialect.series() if service.dialect is not None else frozenset()
