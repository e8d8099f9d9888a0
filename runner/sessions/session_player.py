"""Plays the sessions of one run by their index: puts scenario, client and settings together."""

import asyncio
from dataclasses import dataclass

from db.clock import Clock
from runner.campaign.campaign import ToolLatency
from runner.sessions.agent_loop import SessionSettings, Sleep, TurnSender, play_session
from runner.sessions.dialogue import Dialogue
from runner.sessions.played_session import PlayedSession
from runner.sessions.scenario import Scenario
from runner.sessions.think_time import think_times_s
from runner.sessions.unplayed_session import unplayed_session


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlayer:
    """`seed` is the workload's: the pauses of a session are the same in every arm.

    `scenario_may_block`: it is an engineer's own, and is asked where nobody else has to wait.
    """

    scenario: Scenario
    client: TurnSender
    settings: SessionSettings
    tool_latency: ToolLatency | None
    seed: int
    clock: Clock
    sleep: Sleep = asyncio.sleep
    scenario_may_block: bool = False

    async def play(self, session_index: int) -> PlayedSession:
        """One session. Whatever is our own fault in it makes it a `harness_error`."""
        try:
            dialogue = await self._dialogue(session_index)
        except Exception as error:
            return self._without_dialogue(session_index, error)
        return await play_session(
            dialogue,
            session_index=session_index,
            settings=self.settings,
            client=self.client,
            think_times_s=think_times_s(
                self.tool_latency, seed=self.seed, session_index=session_index
            ),
            clock=self.clock,
            sleep=self.sleep,
        )

    async def _dialogue(self, session_index: int) -> Dialogue:
        if self.scenario_may_block:
            return await asyncio.to_thread(self.scenario.dialogue, session_index)
        return self.scenario.dialogue(session_index)

    def _without_dialogue(self, session_index: int, error: Exception) -> PlayedSession:
        now_us = self.clock.utc_us()
        return unplayed_session(
            session_index,
            scenario_name=self.scenario.name,
            started_at_us=now_us,
            ended_at_us=now_us,
            because=f"{type(error).__name__}: {error}",
        )
