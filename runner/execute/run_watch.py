"""What watches one run while it is driven: scrapes, logs, wedges; and what is done at a wedge."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from db.vocabulary import RunFlag
from runner.campaign.campaign import Campaign, OnWedge
from runner.campaign.stack_file import Stack
from runner.execute.progress import RunOfCampaign
from runner.execute.run_setting import RunSetting
from runner.execute.session_drive import DriveRecord
from runner.observe.black_box import BoxedService
from runner.observe.local_listener import listening_process
from runner.observe.metric_dialects import dialect_of_endpoint
from runner.observe.notification import notify
from runner.observe.run_observer import SCRAPE_PERIOD_S, ObservedService, RunObserver
from runner.observe.stall_cohorts import stall_cohorts
from runner.observe.wedge_keeping import StoredWedges
from runner.observe.wedge_spans import OpenRequest, Silence, WedgePatience, WedgeSpan
from runner.observe.wedge_watch import CanarySetting, ClientView, WedgeWatch
from runner.stacks.fingerprint import redacted
from runner.stacks.log_sources import log_source_of, without_secrets
from runner.stacks.running_stack import RunningStack, stop_services
from runner.stacks.service_launch import ServiceLaunch

_MAX_COHORTS = 50
_LOOKS_PER_QUIET = 4


class RunWatch:
    """`halt` is set where the run is to end at a wedge; `flags` then says why."""

    def __init__(
        self,
        run: RunOfCampaign,
        setting: RunSetting,
        running: RunningStack,
        record: DriveRecord,
    ) -> None:
        self._run = run
        self._setting = setting
        self._running = running
        self._record = record
        self.halt = asyncio.Event()
        self.flags: list[RunFlag] = []
        self._stopping: asyncio.Task[None] | None = None
        self.observer = self._observer()
        self.wedges = self._wedge_watch()

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Looks at the services while this is open, and once more at its end."""
        stop = asyncio.Event()
        self.observer.wedges = self.wedges
        task = asyncio.create_task(self.observer.watch(stop), name="observer")
        try:
            yield
        finally:
            stop.set()
            try:
                await task
            finally:
                self.observer.wedges = None
                await self.wedges.finish()
                self._tell_of_logs()
                if self._stopping is not None:
                    await self._stopping

    def _tell_of_logs(self) -> None:
        """What a reader must know of counts that come from logs."""
        note = self._setting.progress.note
        for trouble in self.observer.log_troubles():
            note(f"r-{self._run.run_id}: {trouble}")
        for name, lag in self.observer.lags().items():
            if lag.unread:
                note(
                    f"r-{self._run.run_id}: {lag.unread / 1e6:.1f} MB of the log of {name} had not "
                    "been read 20 s after the last session"
                )

    def facts(self) -> dict[str, Any]:
        cohorts = stall_cohorts(self._record.stalls)
        return {
            **self.wedges.facts(),
            "stall_cohorts": [cohort.to_json() for cohort in cohorts[:_MAX_COHORTS]],
            "stalls": len(self._record.stalls),
            "logs": self.observer.facts(),
        }

    @property
    def own_cancellations(self) -> set[str]:
        """Ours, and the canaries that we gave up."""
        answered = {each.request_id for each in self.wedges.canaries if each.answered}
        return self._record.own_cancellations | (self.wedges.canary_ids - answered)

    def _observer(self) -> RunObserver:
        setting, running = self._setting, self._running
        services = [
            ObservedService(
                launch.name,
                launch.metrics_url,
                without_secrets(
                    log_source_of(launch, running.log_path(launch.name)), setting.secrets
                ),
                dialect_of_endpoint(metrics) if (metrics := launch.definition.metrics) else None,
                launch.definition.role,
            )
            for launch in running.launches
        ]
        return RunObserver(
            run_id=self._run.run_id,
            http=setting.http,
            sink=setting.recorder.put,
            clock=setting.store.clock,
            services=services,
            catalogue=setting.catalogue,
            also_keep=_exposure_counters(setting.stack, self._run.arm.levels),
            model=running.model,
            period_s=min(
                SCRAPE_PERIOD_S, wedge_patience(setting.campaign).quiet_s / _LOOKS_PER_QUIET
            ),
        )

    def _wedge_watch(self) -> WedgeWatch:
        setting = self._setting
        return WedgeWatch(
            http=setting.http,
            patience=wedge_patience(setting.campaign),
            canary=CanarySetting(
                chat_url=self._running.chat_url,
                model=self._running.model,
                prefix=f"r{self._run.run_id}",
                names_requests=self._running.speaks_sglang,
            ),
            client=ClientView(
                open_requests=lambda: open_requests(self._record),
                progress_s=self._client_progress_s,
                silences=self._silences,
            ),
            services=boxed_services(self._running, self.observer),
            redact=redacted,
            keeper=StoredWedges(setting.store, self._run.run_id),
            on_wedge=self._wedged,
        )

    def _client_progress_s(self) -> float | None:
        client = self._record.client
        return client.progress_at() if client is not None else None

    def _silences(self) -> list[Silence]:
        """On the event loop's clock; they are recorded in UTC."""
        ahead_s = self._setting.store.clock.utc_us() / 1e6 - asyncio.get_running_loop().time()
        return [
            Silence(each.request_id, each.began_s - ahead_s, each.released_s - ahead_s)
            for each in self._record.silences
        ]

    async def _wedged(self, span: WedgeSpan) -> None:
        setting = self._setting
        where = ", ".join(span.where) or "the stack"
        setting.progress.note(
            f"r-{self._run.run_id}: wedge in {where} since "
            f"{span.confirmed_s - span.started_s:.0f} s, {len(span.victims)} requests wait "
            f"({span.confirmed_by})"
        )
        facts = {
            "run": f"r-{self._run.run_id}",
            "campaign": setting.campaign.name,
            "arm": self._run.arm.name,
            "where": list(span.where),
            "rule": str(span.rule),
            "seconds": round(span.confirmed_s - span.started_s, 1),
            "victims": list(span.victims),
            "confirmed_by": span.confirmed_by,
        }
        failed = await notify(setting.campaign.notify or setting.stack.notify, "wedge", facts)
        if failed is not None:
            setting.progress.note(failed)
        if setting.campaign.on_wedge is not OnWedge.RECORD:
            self._end_run_here()

    def _end_run_here(self) -> None:
        """No session starts any more; those in flight end with the servers where these are ours."""
        self.flags.append(RunFlag.ENDED_AT_WEDGE)
        self.halt.set()
        self.wedges.suspect_no_more()
        if self._setting.campaign.on_wedge is OnWedge.RESTART:
            # A task of its own: the next run must not start before the servers are gone.
            self._stopping = asyncio.create_task(stop_services(self._running), name="stop")


def wedge_patience(campaign: Campaign) -> WedgePatience:
    deadlines = campaign.workload.deadlines
    return WedgePatience.of(
        shortest_deadline_s=min(
            deadlines.first_token_s, deadlines.no_progress_s, deadlines.session_s
        ),
        chosen_s=campaign.longest_pause_s,
    )


def open_requests(record: DriveRecord) -> tuple[OpenRequest, ...]:
    """The requests of a drive that have no end yet."""
    if record.client is None:
        return ()
    return tuple(OpenRequest(*each) for each in record.client.open_requests())


def boxed_services(running: RunningStack, observer: RunObserver) -> Sequence[BoxedService]:
    marks = running.marks()

    def tail_of(name: str) -> Callable[[], bytes]:
        return lambda: observer.log_tail(name)

    def process_of(launch: ServiceLaunch) -> Callable[[], int | None]:
        if launch.name in marks:
            return lambda: marks[launch.name].pid
        return process_found_by_port(launch)

    return [
        BoxedService(
            name=launch.name,
            base_url=launch.base_url,
            metrics_url=launch.metrics_url,
            server_info_url=launch.url_of(launch.definition.server_info),
            log_tail=tail_of(launch.name) if launch.has_log else None,
            find_process=process_of(launch),
        )
        for launch in running.launches
    ]


def process_found_by_port(launch: ServiceLaunch) -> Callable[[], int | None]:
    """For a service that others have started; one behind ssh is no process of this machine."""
    return lambda: None if launch.host.ssh else listening_process(launch.base_url)


def _exposure_counters(stack: Stack, levels: Mapping[str, Any]) -> Sequence[str]:
    return [check.counter for _, effect in stack.effects_of(levels) for check in effect.exercise]
