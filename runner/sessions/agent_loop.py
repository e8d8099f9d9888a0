"""Plays one session: sends turn after turn, has each judged, feeds the tools' results back.

It ends at the first turn that is corrupt or silent. It decides nothing about what a turn was, and
knows neither other sessions nor the store.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from db.clock import Clock
from runner.judge.assembled_message import AssembledMessage
from runner.judge.json_values import JsonObject
from runner.judge.record import TurnContext, TurnRecord
from runner.judge.turn_reading import JudgedTurn, judge_turn
from runner.sessions.chat_request import (
    ChatRequest,
    assistant_message,
    system_message,
    tool_messages,
)
from runner.sessions.dialogue import Dialogue, Step
from runner.sessions.played_session import PlayedSession, PlayedTurn
from runner.sessions.request_context import turn_context
from runner.sessions.session_ending import SessionEnding, judge_played
from runner.sessions.streaming_client import encode_body

Judge: TypeAlias = Callable[[TurnRecord, TurnContext], JudgedTurn]
Sleep: TypeAlias = Callable[[float], Awaitable[None]]

_JUDGED_AT_ONCE_BYTES = 128_000  # a millisecond or two; another thread costs half of one itself


class TurnSender(Protocol):
    """What the loop needs of a client."""

    async def send(
        self,
        body: JsonObject,
        *,
        encoded: bytes | None = None,
        request_id: str,
        session_left_s: float | None = None,
    ) -> TurnRecord:
        """`encoded`: the body as it goes over the wire, where it is at hand."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings:
    """What the sessions of a run have in common. `session_s` is the time that each may take.

    `request_prefix` makes the names of their requests unique on the server.
    """

    request: ChatRequest
    session_s: float
    request_prefix: str
    max_rounds: int | None = None


async def play_session(
    dialogue: Dialogue,
    *,
    session_index: int,
    settings: SessionSettings,
    client: TurnSender,
    think_times_s: Iterator[float],
    clock: Clock,
    sleep: Sleep = asyncio.sleep,
    judge: Judge = judge_turn,
) -> PlayedSession:
    """The session as it went. Cancelled, it is no session.

    A fault of our own makes it a `harness_error`, with the turns that were played before.
    """
    play = _Play(
        dialogue,
        name=f"{settings.request_prefix}-s{session_index}",
        settings=settings,
        client=client,
        think_times_s=think_times_s,
        clock=clock,
        sleep=sleep,
        judge=judge,
    )
    started_at_us = clock.utc_us()
    try:
        ending = await play.to_its_end()
    except _Ended as ended:
        ending = ended.ending
    except Exception as error:
        ending = SessionEnding(harness_error=f"{type(error).__name__}: {error}")
    return PlayedSession(
        session_index=session_index,
        dialogue_key=dialogue.key,
        rounds_planned=len(play.rounds),
        rounds_completed=play.rounds_completed,
        started_at_us=started_at_us,
        ended_at_us=clock.utc_us(),
        turns=tuple(play.turns),
        judgement=judge_played([turn.judged for turn in play.turns], ending),
    )


class _Ended(Exception):
    """No further turn is to be sent; no error, but the way out of a round."""

    def __init__(self, ending: SessionEnding) -> None:
        super().__init__()
        self.ending = ending


class _Play:
    """A session under way. `messages` is what the next request will hold."""

    def __init__(
        self,
        dialogue: Dialogue,
        *,
        name: str,
        settings: SessionSettings,
        client: TurnSender,
        think_times_s: Iterator[float],
        clock: Clock,
        sleep: Sleep,
        judge: Judge,
    ) -> None:
        self._dialogue = dialogue
        self._name = name
        self._settings = settings
        self._client = client
        self._think_times_s = think_times_s
        self._clock = clock
        self._sleep = sleep
        self._judge = judge
        self._ends_at_s = clock.monotonic_s() + settings.session_s
        self._messages: list[JsonObject] = (
            [system_message(dialogue.system)] if dialogue.system else []
        )
        self.rounds = dialogue.rounds[: settings.max_rounds]
        self.rounds_completed = 0
        self.turns: list[PlayedTurn] = []

    async def to_its_end(self) -> SessionEnding:
        for index, played in enumerate(self.rounds):
            for step in played.steps:
                if self.turns:
                    await self._think()
                await self._play(step, index, ends_round=step is played.steps[-1])
            self.rounds_completed += 1
        is_cut = len(self.rounds) < len(self._dialogue.rounds)
        return SessionEnding(reached_end=not is_cut, rounds_limit_hit=is_cut)

    async def _play(self, step: Step, round_index: int, *, ends_round: bool) -> None:
        self._messages += step.say
        if not self._asks(step):
            return
        answer = await self._turn(step, round_index, ends_round=ends_round)
        self._messages.append(assistant_message(answer))
        self._messages += tool_messages(answer, due=step.due, result=step.tool_result)

    def _asks(self, step: Step) -> bool:
        """Not where the model has answered in words what was to be a call: its own words would be
        the last message, which asks nothing. What is due is asked for all the same.
        """
        if step.say or step.recorded is not None or step.due is not None or not self._messages:
            return True
        return self._messages[-1].get("role") != "assistant"

    async def _turn(self, step: Step, round_index: int, *, ends_round: bool) -> AssembledMessage:
        """The answer to one request. Raises _Ended where the session must not go on after it."""
        request_id = f"{self._name}-t{len(self.turns)}"
        body = self._settings.request.body(
            self._messages if step.recorded is None else step.recorded,
            self._dialogue.tools if step.tools is None else step.tools,
            request_id=request_id,
            of_step=step.request,
        )
        encoded = encode_body(body)
        started_at_us = self._clock.utc_us()
        record = await self._client.send(
            body, encoded=encoded, request_id=request_id, session_left_s=self._time_left_s()
        )
        context = turn_context(
            body,
            due=step.due,
            round_index=round_index,
            max_rounds=self._settings.max_rounds,
            ends_round=ends_round,
        )
        judged = await self._judged(record, context)
        self.turns.append(
            PlayedTurn(
                request_id=request_id,
                round_index=round_index,
                started_at_us=started_at_us,
                request=encoded,
                record=record,
                context=context,
                judged=judged,
            )
        )
        if judged.outcome is not None:
            raise _Ended(SessionEnding())
        return judged.message

    async def _judged(self, record: TurnRecord, context: TurnContext) -> JudgedTurn:
        if len(record.body) <= _JUDGED_AT_ONCE_BYTES:
            return self._judge(record, context)
        return await asyncio.to_thread(self._judge, record, context)

    async def _think(self) -> None:
        pause_s, left_s = next(self._think_times_s), self._time_left_s()
        await self._sleep(min(pause_s, left_s))
        if pause_s >= left_s:
            raise _Ended(SessionEnding(ran_out_of_time=True))

    def _time_left_s(self) -> float:
        """Raises _Ended where no time is left: a request that cannot be answered is not sent."""
        left_s = self._ends_at_s - self._clock.monotonic_s()
        if left_s <= 0:
            raise _Ended(SessionEnding(ran_out_of_time=True))
        return left_s
