"""Where the events of each open request wait for the coroutine that answers it.

It is the bridge between the engine's thread and the event loop: one wake-up a step, not a token.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from runner.testbed.generation import GenerationEvent


class AnswerStreams:
    """`open` and `close` in the loop's thread, `deliver` from any other."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._queues: dict[str, asyncio.Queue[GenerationEvent]] = {}

    def open(self, rid: str) -> None:
        self._queues[rid] = asyncio.Queue()

    def close(self, rid: str) -> None:
        self._queues.pop(rid, None)

    def is_open(self, rid: str) -> bool:
        return rid in self._queues

    def open_rids(self) -> list[str]:
        return [*self._queues]

    async def events(self, rid: str) -> AsyncIterator[GenerationEvent]:
        """All events of a request, up to its end."""
        events = self._queues[rid]
        while True:
            event = await events.get()
            yield event
            if event.finish is not None:
                return

    def deliver(self, events: list[GenerationEvent]) -> None:
        self._loop.call_soon_threadsafe(self._sort, events)

    def _sort(self, events: list[GenerationEvent]) -> None:
        for event in events:
            waiting = self._queues.get(event.rid)
            if waiting is not None:  # else its client has gone
                waiting.put_nowait(event)
