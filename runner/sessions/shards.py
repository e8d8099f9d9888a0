"""The sessions of a run spread over processes, as if one client played them all.

Which session begins when is the drive's to say, as in one process; here is only where it is played.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from db.clock import Clock
from runner.errors import ClientProcessLostError
from runner.sessions.client_health import ClientHealth, health_of_all
from runner.sessions.client_setting import ClientSetting
from runner.sessions.open_request import OpenRequest
from runner.sessions.played_session import PlayedSession
from runner.sessions.shard import Shard
from runner.sessions.streaming_client import StreamingClient
from runner.sessions.unplayed_session import unplayed_session


class Shards:
    """Session i is played by the process i modulo their number, or, once that is lost, by one that
    is left. `on_lost` is told in a sentence of each that is lost. `beside` is the client of this
    process, which sends what is no session; its requests are counted and listed with the others.
    """

    def __init__(
        self,
        setting: ClientSetting,
        *,
        count: int,
        scenario_name: str,
        beside: StreamingClient,
        clock: Clock,
        on_lost: Callable[[str], None],
    ) -> None:
        self._setting = setting
        self._scenario_name = scenario_name
        self._beside = beside
        self._clock = clock
        self.shards = [
            Shard(f"client process {number} of {count}", on_lost=on_lost)
            for number in range(1, count + 1)
        ]
        self.in_flight = 0
        self.most_in_flight = 0
        self._health: tuple[tuple[str, ClientHealth], ...] = ()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """While open, `play` may be called. Raises ConfigError, ClientProcessLostError."""
        try:
            await asyncio.gather(*(shard.start(self._setting) for shard in self.shards))
            yield
        finally:
            said = await asyncio.gather(*(shard.finish() for shard in self.shards))
            self._health = tuple(
                (shard.name, health)
                for shard, health in zip(self.shards, said, strict=True)
                if health is not None
            )

    async def play(self, session_index: int) -> PlayedSession:
        """One session. What a lost process was playing is a `harness_error`.

        Raises:
            ClientProcessLostError: no process is left.
        """
        shard = self._shard_of(session_index)
        started_at_us = self._clock.utc_us()
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await shard.play(session_index)
        except ClientProcessLostError as lost:
            return unplayed_session(
                session_index,
                scenario_name=self._scenario_name,
                started_at_us=started_at_us,
                ended_at_us=self._clock.utc_us(),
                because=str(lost),
            )
        finally:
            self.in_flight -= 1

    @property
    def sent(self) -> int:
        """Requests, as of a second ago."""
        return self._beside.sent + sum(shard.status.sent for shard in self.shards)

    def open_requests(self) -> tuple[OpenRequest, ...]:
        """As of a second ago."""
        in_shards = [each for shard in self.shards for each in shard.status.open_requests]
        return (*self._beside.open_requests(), *in_shards)

    def progress_at(self) -> float | None:
        """When any answer last made progress, on the event loop's clock; None before the first."""
        moments: list[float | None] = [
            shard.heard_at_s - shard.status.quiet_s
            for shard in self.shards
            if shard.status.quiet_s is not None
        ]
        known = [moment for moment in (*moments, self._beside.progress_at()) if moment is not None]
        return max(known, default=None)

    def health(self, here: ClientHealth) -> ClientHealth:
        """Of all processes together, once they have ended; `here` is that of this one."""
        return health_of_all(here, self._health)

    def _shard_of(self, session_index: int) -> Shard:
        left = [shard for shard in self.shards if shard.lost is None]
        if not left:
            why = "; ".join(shard.lost or "" for shard in self.shards)
            raise ClientProcessLostError(f"no process is left to play sessions: {why}")
        wanted = self.shards[session_index % len(self.shards)]
        return wanted if wanted.lost is None else left[session_index % len(left)]
