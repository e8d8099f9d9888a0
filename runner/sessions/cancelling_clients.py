"""Clients that hang up in the middle of an answer, beside the sessions that are judged.

People press stop; a server then frees what the request held while transfers may still be under way.
What these clients hear is no evidence: it is neither judged nor stored.
"""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass

from runner.sessions.agent_loop import Sleep, TurnSender
from runner.sessions.chat_request import ChatRequest
from runner.sessions.dialogue import Dialogue
from runner.sessions.first_request import first_request
from runner.sessions.scenario import Scenario

FIRST_INDEX = 10_000_000  # no session of a run has such an index, so no dialogue is heard twice
MEAN_UNTIL_HANG_UP_S = 0.5
MEAN_PAUSE_S = 0.25
_LEAST_S = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class CancellingClients:
    """`count` clients, each of which sends first requests of dialogues and leaves them.

    How long each waits is exponential, from `seed`: the same in every arm. `on_sent` hears the name
    of each request before it goes out, since a server logs its abort under it.
    """

    count: int
    scenario: Scenario
    client: TurnSender
    request: ChatRequest
    request_prefix: str
    seed: int
    on_sent: Callable[[str], object]
    sleep: Sleep = asyncio.sleep

    async def run(self) -> None:
        """Until it is cancelled. Raises what makes a request that cannot be sent at all."""
        async with asyncio.TaskGroup() as group:
            for number in range(self.count):
                group.create_task(self._one(number), name=f"cancelling client {number}")

    async def _one(self, number: int) -> None:
        draw = random.Random(f"cancelling/{self.seed}/{number}")
        sent = 0
        while True:
            await self.sleep(_LEAST_S + draw.expovariate(1 / MEAN_PAUSE_S))
            name = f"{self.request_prefix}-x{number}-{sent}"
            dialogue = self.scenario.dialogue(FIRST_INDEX + number * 1_000 + sent)
            self.on_sent(name)
            await self._send_and_leave(
                dialogue, name, _LEAST_S + draw.expovariate(1 / MEAN_UNTIL_HANG_UP_S)
            )
            sent += 1

    async def _send_and_leave(self, dialogue: Dialogue, name: str, after_s: float) -> None:
        body = first_request(dialogue, self.request, request_id=name)
        try:
            async with asyncio.timeout(after_s):
                await self.client.send(body, request_id=name)
        except TimeoutError:
            return
