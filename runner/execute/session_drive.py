"""Drives the sessions of one run against running services and stores each as it ends."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

from db.clock import Clock
from db.recorder import Recorder
from db.vocabulary import TransportEnd
from runner.campaign.campaign import Arm, Campaign
from runner.campaign.stack_file import Stack
from runner.control.secrets import Secrets
from runner.event_loop import end_task
from runner.execute.early_stopping import may_end_at_first_corrupt
from runner.execute.live_evidence import progress_of
from runner.execute.run_request import request_of
from runner.observe.stall_cohorts import Stall, silences_of_answer, stalls_of_reads
from runner.sessions.agent_loop import SessionSettings
from runner.sessions.arrivals import poisson_arrivals_s
from runner.sessions.cancelling_clients import CancellingClients
from runner.sessions.chat_request import ChatRequest
from runner.sessions.client_health import ClientHealth, HealthWatch
from runner.sessions.played_session import PlayedSession
from runner.sessions.record_rows import to_ended_session
from runner.sessions.scenario import Scenario, scenario_of
from runner.sessions.session_loop import DriveProgress, drive_sessions
from runner.sessions.session_player import SessionPlayer
from runner.sessions.session_transport import session_transport
from runner.sessions.streaming_client import StreamingClient
from runner.stacks.running_stack import RunningStack
from runner.stacks.service_connection import Connection

OnEnded = Callable[[PlayedSession], None]


@dataclass(slots=True)
class DriveRecord:
    """What a drive leaves besides the sessions themselves, readable while it runs."""

    progress: DriveProgress = field(default_factory=DriveProgress)
    own_cancellations: set[str] = field(default_factory=set)
    health: ClientHealth | None = None
    met_first_corrupt: bool = False
    client: StreamingClient | None = None
    stalls: list[Stall] = field(default_factory=list)
    silences: list[Stall] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDrive:
    """One run's sessions. `stop` set: no session starts any more, those in flight end."""

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
    record: DriveRecord = field(default_factory=DriveRecord)

    async def drive(self) -> None:
        """Plays all sessions of the run. Raises what keeps one from being stored."""
        workload = self.campaign.workload
        client = StreamingClient(
            self.running.entry.base_url,
            transport=session_transport(tls=self.connection.tls, proxy=self.connection.proxy),
            deadlines=workload.deadlines,
            headers=self.connection.headers,
            secrets=self.secrets,
        )
        self.record.client = client
        rate = workload.arrivals_per_s
        scenario = scenario_of(self.campaign)
        watch = HealthWatch(client)
        async with client, watch.watching(), self._cancelling(client, scenario):
            try:
                await drive_sessions(
                    range(self.arm.sessions),
                    concurrency=self.arm.concurrency,
                    play=self._player(client, scenario).play,
                    on_ended=self._ended,
                    stop=self.stop,
                    progress=self.record.progress,
                    arrivals_s=poisson_arrivals_s(rate, seed=workload.seed) if rate else None,
                )
            finally:
                self.record.health = watch.health()

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

    def _player(self, client: StreamingClient, scenario: Scenario) -> SessionPlayer:
        workload = self.campaign.workload
        return SessionPlayer(
            scenario=scenario,
            client=client,
            settings=SessionSettings(
                request=self._chat_request(),
                session_s=workload.deadlines.session_s,
                request_prefix=f"r{self.run_id}",
            ),
            tool_latency=workload.tool_latency,
            seed=workload.seed,
            clock=self.clock,
        )

    def _chat_request(self) -> ChatRequest:
        return request_of(self.campaign, self.stack, self.arm, self.running)

    async def _ended(self, played: PlayedSession) -> None:
        self.record.outcomes[played.judgement.outcome] += 1
        said = progress_of(
            self.record.outcomes, corrupt=self.campaign.corrupt, planned=self.arm.sessions
        )
        ended = to_ended_session(played, run_id=self.run_id)
        await self.recorder.session_ended(replace(ended, progress_said=said))
        self.record.own_cancellations |= {
            turn.request_id
            for turn in played.turns
            if turn.record.transport_end is TransportEnd.CLIENT_DEADLINE
        }
        for turn in played.turns:
            sent_s = turn.started_at_us / 1e6
            self.record.stalls += stalls_of_reads(turn.request_id, sent_s, turn.record.reads)
            self.record.silences += silences_of_answer(
                turn.request_id, sent_s, turn.record.reads, turn.record.ended_s
            )
        is_corrupt = played.judgement.outcome in self.campaign.corrupt
        if is_corrupt and may_end_at_first_corrupt(self.campaign, self.arm):
            self.record.met_first_corrupt = True
            self.stop.set()
        self.on_ended(played)
