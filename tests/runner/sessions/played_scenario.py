"""A scenario played against a server that answers by a function of the request."""

import json
from typing import Any

from runner.campaign.campaign import ScenarioName, Workload
from runner.judge.json_values import JsonObject
from runner.judge.record import TurnRecord
from runner.sessions.session_player import SessionPlayer
from tests.runner.sessions.puppet_client import streamed
from tests.runner.sessions.test_session_player import a_player


def a_workload(scenario: ScenarioName | str, **fields: Any) -> Workload:
    return Workload(scenario=scenario, sessions=4, rounds=2, **fields)


class Server:
    """Answers each request by a function of its body, and keeps the bodies."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer
        self.bodies: list[JsonObject] = []

    async def send(
        self,
        body: JsonObject,
        *,
        encoded: bytes | None = None,
        request_id: str,
        session_left_s: float | None = None,
    ) -> TurnRecord:
        self.bodies.append(json.loads(json.dumps(body)))
        return streamed(self._answer(body, len(self.bodies) - 1))


def player_of(scenario: Any, server: Server) -> SessionPlayer:
    made = a_player(scenario)
    return SessionPlayer(
        scenario=scenario,
        client=server,
        settings=made.settings,
        tool_latency=None,
        seed=7,
        clock=made.clock,
    )
