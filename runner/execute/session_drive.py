"""Drives the sessions of one run against running services and stores each as it ends."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from db.clock import Clock
from db.recorder import Recorder
from db.vocabulary import TransportEnd
from runner.campaign.campaign import Arm, Campaign
from runner.campaign.stack_file import Stack
from runner.control.secrets import Secrets
from runner.event_loop import end_task
from runner.execute.early_stopping import may_end_at_first_corrupt
from runner.execute.live_evidence import get_ready_to_tell_progress, progress_of
from runner.execute.run_request import request_of
from runner.observe.stall_cohorts import Stall, silences_of_answer, stalls_of_reads
from runner.sessions.arrivals import poisson_arrivals_s
from runner.sessions.cancelling_clients import CancellingClients
from runner.sessions.chat_request import ChatRequest
from runner.sessions.client_health import ClientHealth, HealthWatch
from runner.sessions.client_processes import client_processes
from runner.sessions.client_setting import ClientSetting
from runner.sessions.open_request import OpenRequest
from runner.sessions.played_session import PlayedSession
from runner.sessions.record_rows import to_late_session
from runner.sessions.scenario import Scenario
from runner.sessions.session_loop import DriveProgress, Play, drive_sessions
from runner.sessions.shards import Shards
from runner.sessions.streaming_client import StreamingClient
from runner.stacks.running_stack import RunningStack
from runner.stacks.service_connection import Connection

OnEnded = Callable[[PlayedSession], None]


class DrivingClient(Protocol):
    """What those who watch a run ask of whatever sends its requests."""

    @property
    def sent(self) -> int: ...

    def open_requests(self) -> tuple[OpenRequest, ...]: ...

    def progress_at(self) -> float | None:
        """When any answer last made progress, on the event loop's clock; None before the first."""


def _tell_nobody(_: str) -> None:
    return


@dataclass(slots=True)
class DriveRecord:
    """What a drive leaves besides the sessions themselves, readable while it runs."""

    progress: DriveProgress = field(default_factory=DriveProgress)
    own_cancellations: set[str] = field(default_factory=set)
    health: ClientHealth | None = None
    met_first_corrupt: bool = False
    client: DrivingClient | None = None
    stalls: list[Stall] = field(default_factory=list)
    silences: list[Stall] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    preparing_s: float = 0.0  # until the first session could begin


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDrive:
    """One run's sessions. `stop` set: no session starts any more, those in flight end.

    They are played here, or, where one core would not do, by processes of their own; `note` is told
    of one that is lost.
    """

    run_id: int
    arm: Arm
    campaign: Campaign
    stack: Stack
    running: RunningStack
    recorder: Recorder
    clock: Clock
    stop: asyncio.Event
    on_ended: OnEnded
    connection: Connection = field(default_factory=Connection)
    secrets: Secrets = field(default_factory=Secrets)
    note: Callable[[str], None] = _tell_nobody
    record: DriveRecord = field(default_factory=DriveRecord)

    async def drive(self) -> None:
        """Plays all sessions of the run. Raises what keeps one from being stored."""
        get_ready_to_tell_progress()
        setting = self._client_setting()
        scenario = setting.scenario()
        client = setting.client()
        count = client_processes(self.campaign.client_processes, concurrency=self.arm.concurrency)
        async with client:
            if count == 1:
                await self._drive_here(setting, client, scenario)
            else:
                await self._drive_in_shards(setting, client, scenario, count)

    async def _drive_here(
        self, setting: ClientSetting, client: StreamingClient, scenario: Scenario
    ) -> None:
        self.record.client = client
        watch = HealthWatch(client)
        try:
            async with watch.watching(), self._cancelling(client, scenario):
                await self._drive_sessions(setting.player(client, scenario, self.clock).play)
        finally:
            self.record.health = watch.health()

    async def _drive_in_shards(
        self, setting: ClientSetting, client: StreamingClient, scenario: Scenario, count: int
    ) -> None:
        shards = Shards(
            setting,
            count=count,
            scenario_name=scenario.name,
            beside=client,
            clock=self.clock,
            on_lost=self.note,
        )
        self.record.client = shards
        watch = HealthWatch(shards)
        began_s = self.clock.monotonic_s()
        try:
            async with (
                watch.watching(),
                shards.running(),
                self._cancelling(client, scenario),
            ):
                self.record.preparing_s = self.clock.monotonic_s() - began_s
                await self._drive_sessions(shards.play)
        finally:
            self.record.health = shards.health(watch.health())

    async def _drive_sessions(self, play: Play) -> None:
        workload = self.campaign.workload
        rate = workload.arrivals_per_s
        await drive_sessions(
            range(self.arm.sessions),
            concurrency=self.arm.concurrency,
            play=play,
            on_ended=self._ended,
            stop=self.stop,
            progress=self.record.progress,
            arrivals_s=poisson_arrivals_s(rate, seed=workload.seed) if rate else None,
        )

    def _client_setting(self) -> ClientSetting:
        return ClientSetting(
            base_url=self.running.entry.base_url,
            workload=self.campaign.workload,
            folder=Path(self.campaign.source_path).parent,
            request=self._chat_request(),
            request_prefix=f"r{self.run_id}",
            headers=dict(self.connection.headers),
            secrets=self.secrets,
            proxy=self.connection.proxy,
            ca_file=self.running.entry.definition.ca_file,
        )

    @asynccontextmanager
    async def _cancelling(self, client: StreamingClient, scenario: Scenario) -> AsyncIterator[None]:
        """The clients that hang up, while the sessions are played."""
        effects = self.stack.effects_of(self.arm.levels)
        clients = CancellingClients(
            count=sum(effect.cancelling_clients for _, effect in effects),
            scenario=scenario,
            client=client,
            request=self._chat_request(),
            request_prefix=f"r{self.run_id}",
            seed=self.campaign.workload.seed,
            on_sent=self.record.own_cancellations.add,
        )
        task = asyncio.create_task(clients.run(), name="cancelling clients")
        try:
            yield
        finally:
            await end_task(task)
        if task.done() and not task.cancelled() and (error := task.exception()) is not None:
            raise error

    def _chat_request(self) -> ChatRequest:
        return request_of(self.campaign, self.stack, self.arm, self.running)

    def _ended(self, played: PlayedSession) -> Coroutine[None, None, None]:
        """Whether it was the last one is known at once, before another begins in its place."""
        outcome = played.judgement.outcome
        self.record.outcomes[outcome] += 1
        if outcome in self.campaign.corrupt and may_end_at_first_corrupt(self.campaign, self.arm):
            self.record.met_first_corrupt = True
            self.stop.set()
        return self._store(played)

    async def _store(self, played: PlayedSession) -> None:
        said = progress_of(
            self.record.outcomes, corrupt=self.campaign.corrupt, planned=self.arm.sessions
        )
        await self.recorder.session_ended(
            to_late_session(played, run_id=self.run_id, progress_said=said)
        )
        self.record.own_cancellations |= {
            turn.request_id
            for turn in played.turns
            if turn.record.transport_end is TransportEnd.CLIENT_DEADLINE
        }
        for turn in played.turns:
            sent_s, reads_at_s = turn.started_at_us / 1e6, turn.record.reads.times_s
            self.record.stalls += stalls_of_reads(turn.request_id, sent_s, reads_at_s)
            self.record.silences += silences_of_answer(
                turn.request_id, sent_s, reads_at_s, turn.record.ended_s
            )
        self.on_ended(played)
