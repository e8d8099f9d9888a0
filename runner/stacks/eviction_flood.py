"""Pushes the prefixes of a run out of the devices' memory, so that its sessions load them back.

The first request of every session is sent beforehand, so that its prefix is cached and backed up;
then prompts that no session has fill the devices' pools, least recently used pages first, and the
prefixes are left in the host's pool alone. None of this is judged or stored as a session.
"""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import httpx

from db.clock import Clock
from runner.control.capped_page import NO_PAGE, fetch_page, said_by
from runner.errors import StackControlError
from runner.stacks.running_stack import RunningStack

AT_ONCE = 8
MARGIN = 1.1  # of the pool: its last pages are held by what was read last
_TOKENS_OF_A_WORD = 1.3  # of plain English, until the server has counted a prompt

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FloodSize:
    """`tokens` in all, in prompts of about `prompt_tokens`; first requests go `repeats` times."""

    tokens: int
    prompt_tokens: int
    repeats: int


@dataclass(frozen=True, slots=True)
class Flooded:
    """What was sent: first requests, prompts of the flood, and the tokens of these."""

    first_requests: int
    prompts: int
    tokens: int
    seconds: float

    def to_json(self) -> dict[str, Any]:
        return {
            "first_requests": self.first_requests,
            "prompts": self.prompts,
            "tokens": self.tokens,
            "seconds": round(self.seconds, 3),
        }


@dataclass(slots=True)
class EvictionFlood:
    """One flood, before one run. `prefix` begins the names of its requests, `words` fill them.

    `deadline_s` is what each request may take.
    """

    running: RunningStack
    http: httpx.AsyncClient
    clock: Clock
    prefix: str
    words: Sequence[str]
    deadline_s: float
    _prompts: int = 0
    _tokens: int = 0
    _awaited_tokens: int = 0
    _tokens_of_a_word: float = _TOKENS_OF_A_WORD

    async def send(self, first_requests: Sequence[Body], size: FloodSize) -> Flooded:
        """Raises StackControlError where the server does not answer one with 200."""
        began_s = self.clock.monotonic_s()
        for _ in range(size.repeats):
            await self._each(iter(first_requests))
        async with _group() as group:
            for _ in range(AT_ONCE):
                group.create_task(self._fill(size))
        return Flooded(
            first_requests=len(first_requests) * size.repeats,
            prompts=self._prompts,
            tokens=self._tokens,
            seconds=self.clock.monotonic_s() - began_s,
        )

    async def _each(self, bodies: Iterator[Body]) -> None:
        async def send_in_turn() -> None:
            for body in bodies:
                await self._tokens_of(body)

        async with _group() as group:
            for _ in range(AT_ONCE):
                group.create_task(send_in_turn())

    async def _fill(self, size: FloodSize) -> None:
        while self._tokens + self._awaited_tokens < size.tokens:
            self._awaited_tokens += size.prompt_tokens
            name = f"{self.prefix}-f{self._prompts}"
            self._prompts += 1
            count = max(1, round(size.prompt_tokens / self._tokens_of_a_word))
            text = " ".join(random.Random(name).choices(self.words, k=count))
            tokens = await self._tokens_of(self._prompt(text, name))
            if tokens:
                self._tokens_of_a_word = tokens / count
            self._tokens += tokens or count
            self._awaited_tokens -= size.prompt_tokens

    def _prompt(self, text: str, name: str) -> Body:
        body = {
            "model": self.running.model,
            "messages": [{"role": "user", "content": text}],
            "max_tokens": 1,
            "temperature": 0,
        }
        return {**body, "rid": name} if self.running.speaks_sglang else body

    async def _tokens_of(self, body: Body) -> int:
        """Of the prompt, as the server counted them; 0 where it does not say."""
        url = self.running.chat_url
        what = "evict_flood: a prompt that is to fill the cache"
        try:
            page = await fetch_page(
                self.http, url, deadline_s=self.deadline_s, method="POST", json=body
            )
        except NO_PAGE as error:
            said = said_by(error, deadline_s=self.deadline_s)
            raise StackControlError(f"{what} had no answer: {said}") from error
        if page.status != HTTPStatus.OK:
            raise StackControlError(
                f"{what} was answered {page.status}: {page.text.strip()[:200]}; where it is too "
                "long, name a smaller prompt_tokens"
            )
        return _prompt_tokens(page.content)


@asynccontextmanager
async def _group() -> AsyncIterator[asyncio.TaskGroup]:
    """Raises the first error of its tasks, alone."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None


def _prompt_tokens(content: bytes) -> int:
    try:
        usage = json.loads(content)["usage"]["prompt_tokens"]
    except (ValueError, RecursionError, KeyError, TypeError):
        return 0
    return usage if isinstance(usage, int) and usage > 0 else 0
