"""Watches a stack that runs already, without load: state, log events, wedges with a black box."""

import asyncio
import dataclasses
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from sqlmodel import SQLModel

from db.clock import Clock
from runner.campaign.stack_file import Stack
from runner.campaign.stack_shape import MetricRole, MetricsDialect
from runner.control.secrets import Secrets
from runner.errors import UsageError
from runner.execute.run_watch import process_found_by_port
from runner.observe.black_box import BoxedService
from runner.observe.event_catalogue import EventCatalogue, EventClass
from runner.observe.log_events import LogEvent
from runner.observe.metric_dialects import dialect_of_endpoint
from runner.observe.notification import notify
from runner.observe.run_observer import ObservedService, RunObserver
from runner.observe.scrape_verdict import Interval, ServerVerdict, judge_page
from runner.observe.wedge_keeping import WedgeFolder
from runner.observe.wedge_spans import LONGEST_PAUSE_LIMIT_S, WedgePatience, WedgeSpan
from runner.observe.wedge_watch import CanarySetting, WedgeWatch, no_client
from runner.stacks.fingerprint import redacted
from runner.stacks.log_sources import log_source_of, without_secrets
from runner.stacks.running_stack import CHAT_PATH
from runner.stacks.service_launch import ServiceLaunch, plan_launches

PERIOD_S = 2.0
BEHIND_BYTES = 8 * 1024 * 1024
_MOST_OF_A_KIND = 5
_LINE_CHARACTERS = 300
_QUIET_CLASSES = frozenset({EventClass.INFO, EventClass.BENIGN})

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchSetting:
    """`folder` takes the black boxes; `period_s`: how long between two looks; `summary_every_s`:
    how often the state is said anew.
    """

    stack: Stack
    addresses: Mapping[str, str]
    catalogue: EventCatalogue
    folder: Path
    sends_canaries: bool
    secrets: Secrets = field(default_factory=Secrets)
    longest_pause_s: float = LONGEST_PAUSE_LIMIT_S
    period_s: float = PERIOD_S
    summary_every_s: float = 30.0


@dataclass(slots=True)
class StackWatch:
    """`wedges` are those that were seen. `say` is told one line for whatever changes."""

    setting: WatchSetting
    http: httpx.AsyncClient
    clock: Clock
    say: Say
    wedges: list[WedgeSpan] = field(default_factory=list)
    _keeper: WedgeFolder = field(init=False)
    _launches: Sequence[ServiceLaunch] = field(init=False)
    _observer: RunObserver = field(init=False)
    _said: dict[str, str] = field(default_factory=dict)
    _troubles: set[str] = field(default_factory=set)
    _unread: set[str] = field(default_factory=set)
    _ends_said: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._keeper = WedgeFolder(self.setting.folder, self.clock)
        self._launches = found_services(self.setting.stack, self.setting.addresses)
        self._observer = self._make_observer()

    async def watch(self, stop: asyncio.Event) -> None:
        """Until `stop` is set. Raises nothing that a server or a log could cause."""
        self._observer.wedges = watching = self._wedge_watch()
        try:
            before, before_s = await self._first_look()
            while not await _is_set_within(stop, self.setting.period_s):
                await self._observer.look()
                self._tell_troubles()
                await self._tell_ends()
                now_s = self.clock.monotonic_s()
                if now_s - before_s >= self.setting.summary_every_s:
                    self._tell_states(before, now_s - before_s)
                    before, before_s = self._observer.pages(), now_s
        finally:
            self._observer.wedges = None
            try:
                await watching.finish()
            finally:  # a second Ctrl-C waits for no wedge that is being kept
                self._observer.close()
            await self._tell_ends(is_over=True)

    async def _first_look(self) -> tuple[dict[str, Any], float]:
        await self._observer.look()
        self._tell_troubles()
        pages = self._observer.pages()
        for launch in self._launches:
            if launch.metrics_url is None:
                self.say(
                    f"{launch.name}: no metrics are read of it, so that no wedge of it can be seen"
                )
            elif (page := pages[launch.name]) is not None:
                self.say(f"{launch.name}: {_described(judge_page(page))}")
        return pages, self.clock.monotonic_s()

    def _tell_events(self, service: str, events: Sequence[LogEvent]) -> None:
        """The first few of each kind in a look, and how many more there were."""
        told: Counter[str] = Counter()
        watching = self._observer.wedges
        ours = watching.canary_ids if watching is not None else set()
        for event in events:
            if event.event_class in _QUIET_CLASSES or not ours.isdisjoint(event.requests):
                continue  # we hang up on a canary ourselves
            told[event.id] += 1
            if told[event.id] <= _MOST_OF_A_KIND:
                said = f"{event.event_class}: {event.id}: {event.line[:_LINE_CHARACTERS]}"
                self.say(f"log of {service}, {said}")
        for kind, count in told.items():
            if count > _MOST_OF_A_KIND:
                self.say(f"log of {service}: {count - _MOST_OF_A_KIND} more lines of {kind}")

    def _tell_troubles(self) -> None:
        """Pages and logs that cannot be read, or not as fast as they are written; each said once,
        and what a page says that can be read again.
        """
        unread = self._observer.page_troubles()
        for name in sorted(self._unread - set(unread)):
            self.say(f"{name}: {_described(judge_page(self._observer.pages()[name]))}")
        self._unread = set(unread)
        troubles = set(self._observer.log_troubles())
        troubles |= {
            f"{name}: unavailable (its metrics cannot be read: {why})"
            for name, why in unread.items()
        }
        troubles |= {
            f"the log of {name} is written faster than it is read here"
            for name, lag in self._observer.lags().items()
            if lag.now > BEHIND_BYTES
        }
        for trouble in sorted(troubles - self._troubles):
            self.say(trouble)
        self._troubles = troubles

    async def _tell_ends(self, *, is_over: bool = False) -> None:
        """How each wedge ended, once it has; `is_over`: the watch has."""
        for span in self.wedges:
            if id(span) in self._ends_said or (span.ended_s is None and not is_over):
                continue
            self._ends_said.add(id(span))
            await self._keeper.ended(span)
            seconds = span.seconds(asyncio.get_running_loop().time())
            verb = "lasted" if span.ended_s is not None else "has lasted"
            self.say(f"the wedge in {self._place(span)} {verb} {seconds:.0f} s: {span.end}")

    def _place(self, span: WedgeSpan) -> str:
        return ", ".join(span.where) or self.setting.stack.name

    def _tell_states(self, before: Mapping[str, Any], elapsed_s: float) -> None:
        """Not of a service that is wedged or has no page, of which that is said already."""
        open_spans = [span for span in self.wedges if span.ended_s is None]
        wedged = {where.partition(" ")[0] for span in open_spans for where in span.where}
        silent = wedged | set(self._observer.page_troubles())
        self._said = {name: said for name, said in self._said.items() if name not in silent}
        for name, page in self._observer.pages().items():
            if page is None or name in silent:
                continue
            earlier = before.get(name)
            interval = Interval(before=earlier, elapsed_s=elapsed_s) if earlier else None
            said = _described(judge_page(page, interval))
            if self._said.get(name) != said:
                self.say(f"{name}: {said}")
            self._said[name] = said

    async def _wedged(self, span: WedgeSpan) -> None:
        self.wedges.append(span)
        folder = self._keeper.folder_of(span)
        seconds = span.confirmed_s - span.started_s
        kept = f"kept in {folder}" if folder is not None else f"not kept: {self._keeper.trouble}"
        self.say(f"WEDGE in {self._place(span)} for {seconds:.0f} s ({span.confirmed_by}); {kept}")
        facts = {
            "stack": self.setting.stack.name,
            "where": list(span.where),
            "rule": str(span.rule),
            "seconds": round(seconds, 1),
            "confirmed_by": span.confirmed_by,
            "black_box": None if folder is None else str(folder),
        }
        failed = await notify(self.setting.stack.notify, "wedge", facts)
        if failed is not None:
            self.say(failed)

    def _make_observer(self) -> RunObserver:
        services = [
            ObservedService(
                launch.name,
                launch.metrics_url,
                without_secrets(log_source_of(launch, None), self.setting.secrets),
                dialect_of_endpoint(metrics) if (metrics := launch.definition.metrics) else None,
            )
            for launch in self._launches
        ]
        return RunObserver(
            run_id=0,
            http=self.http,
            sink=_drop,
            clock=self.clock,
            services=services,
            catalogue=self.setting.catalogue,
            model=self.setting.stack.model,
            on_events=self._tell_events,
        )

    def _wedge_watch(self) -> WedgeWatch:
        entry = self._launches[0]
        metrics = [each.definition.metrics for each in self._launches]
        canary = CanarySetting(
            chat_url=entry.base_url + CHAT_PATH,
            model=self.setting.stack.model,
            prefix="watch",
            names_requests=any(m and m.dialect is MetricsDialect.SGLANG for m in metrics),
        )
        pause_s = self.setting.longest_pause_s
        return WedgeWatch(
            http=self.http,
            patience=WedgePatience(quiet_s=pause_s / 2, canary_s=pause_s / 2),
            canary=canary if self.setting.sends_canaries else None,
            client=no_client(),
            services=[_boxed(launch, self._observer) for launch in self._launches],
            redact=redacted,
            keeper=self._keeper,
            on_wedge=self._wedged,
        )


def found_services(stack: Stack, addresses: Mapping[str, str]) -> tuple[ServiceLaunch, ...]:
    """The services where they run already: at `addresses`, else where the stack file says.

    Raises UsageError where a port is not fixed and no address was given.
    """
    unknown = sorted(set(addresses) - set(stack.services))
    if unknown:
        known = ", ".join(stack.services)
        raise UsageError(f"stack {stack.name} has no service {unknown[0]!r}; it has: {known}")
    services = {
        name: definition.model_copy(update={"base_url": addresses[name].rstrip("/")})
        if name in addresses
        else definition
        for name, definition in stack.services.items()
    }
    for name, definition in services.items():
        if "{port}" in definition.base_url and definition.port == "free":
            raise UsageError(
                f"stack {stack.name} gives {name} a free port at each start: say where it runs "
                f"with --url {name}=http://HOST:PORT"
            )
    ports = dict.fromkeys(services, 0)
    located = dataclasses.replace(stack, services=services)
    return plan_launches(located, {}, ports=ports, python="")


def _boxed(launch: ServiceLaunch, observer: RunObserver) -> BoxedService:
    return BoxedService(
        name=launch.name,
        base_url=launch.base_url,
        metrics_url=launch.metrics_url,
        server_info_url=launch.url_of(launch.definition.server_info),
        log_tail=(lambda: observer.log_tail(launch.name)) if launch.has_log else None,
        find_process=process_found_by_port(launch),
    )


def _described(verdict: ServerVerdict) -> str:
    values = verdict.values
    shown = [
        f"{role}={values[role]:g}"
        for role in (MetricRole.RUNNING, MetricRole.QUEUE, MetricRole.DECODE_TRANSFER)
        if role in values
    ]
    where = f" in {', '.join(verdict.where)}" if verdict.where else ""
    return " ".join([f"{verdict.state}{where}", *shown]) + f" ({verdict.why})"


def _drop(rows: Sequence[SQLModel]) -> None:
    """A watch without load keeps no rows."""


async def _is_set_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(event.wait(), timeout=seconds)
    except TimeoutError:
        return False
    return True
