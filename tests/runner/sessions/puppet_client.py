"""A client whose server follows the dialogue to the letter, but for turns that a test spoils."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from db.read_times import ReadTimes
from db.vocabulary import TransportEnd
from runner.judge.json_values import JsonObject
from runner.judge.record import DueCall, TurnRecord
from runner.sessions.dialogue import Dialogue
from tests.runner.sessions import wire

Spoilt = bytes | TurnRecord | Exception


def streamed(
    body: bytes,
    *,
    status: int = 200,
    end: TransportEnd = TransportEnd.CLEAN_EOF,
    content_type: str = "text/event-stream",
) -> TurnRecord:
    return TurnRecord(
        stream=True,
        http_status=status,
        content_type=content_type,
        transport_end=end,
        body=body,
        reads=ReadTimes((0.25, 0.5), (len(body) // 2, len(body))),
        ended_s=0.75,
    )


@dataclass
class PuppetClient:
    """`spoilt` maps the number of a turn to what comes instead of the right answer."""

    dialogue: Dialogue
    spoilt: Mapping[int, Spoilt] = field(default_factory=dict)
    takes_s: float = 0.0
    bodies: list[JsonObject] = field(default_factory=list)
    request_ids: list[str] = field(default_factory=list)
    left_s: list[float | None] = field(default_factory=list)

    async def send(
        self,
        body: JsonObject,
        *,
        encoded: bytes | None = None,
        request_id: str,
        session_left_s: float | None = None,
    ) -> TurnRecord:
        turn = len(self.bodies)
        self.bodies.append(body)
        self.request_ids.append(request_id)
        self.left_s.append(session_left_s)
        await asyncio.sleep(self.takes_s)
        answer = self.spoilt.get(turn, self.right_answer(turn))
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, TurnRecord) else streamed(answer)

    def right_answer(self, turn: int) -> bytes:
        call, _ = self.dialogue.rounds[turn // 2].steps
        if turn % 2:
            return wire.answer_stream(f"Done: {call.tool_result}")
        assert isinstance(call.due, DueCall)
        return wire.call_stream(call.due.name, dict(call.due.arguments), id=f"call_{turn}")
