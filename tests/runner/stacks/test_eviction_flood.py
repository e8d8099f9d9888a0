"""A flood sends what sessions ask first, and then fills the device with what none of them asks."""

import json
from typing import Any

import httpx
import pytest

from db.clock import SystemClock
from runner.campaign.stack_file import LaunchSettings
from runner.campaign.stack_shape import ControllerName, ServiceDefinition
from runner.errors import StackControlError
from runner.stacks.eviction_flood import AT_ONCE, EvictionFlood, Flooded, FloodSize
from runner.stacks.running_stack import RunningStack
from runner.stacks.service_launch import ServiceLaunch

DEFINITION = ServiceDefinition(
    controller=ControllerName.EXTERNAL, base_url="http://server:1", server_info="/server_info"
)
RUNNING = RunningStack(
    "m",
    LaunchSettings(()),
    (ServiceLaunch("server", (), {}, DEFINITION.base_url, DEFINITION),),
    {},
)
FIRST = [{"messages": [{"content": f"please {n}"}], "rid": f"s{n}"} for n in range(3)]
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon")


class Server:
    """Takes two tokens for a word and three for a frame; refuses what has over `most` tokens."""

    def __init__(self, most: int = 1_000_000, *, counts: bool = True) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.tokens: list[int] = []
        self._most = most
        self._counts = counts

    def answer(self, request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        tokens = 3 + 2 * len(body["messages"][-1]["content"].split())
        self.bodies.append(body)
        self.tokens.append(tokens)
        if tokens > self._most:
            return httpx.Response(400, text=f"longest prompt: {self._most}")
        usage = {"prompt_tokens": tokens} if self._counts else None
        return httpx.Response(200, json={"usage": usage})


async def flooded(server: Server, size: FloodSize) -> Flooded:
    async with httpx.AsyncClient(transport=httpx.MockTransport(server.answer)) as http:
        flood = EvictionFlood(RUNNING, http, SystemClock(), "r7-flood", WORDS, deadline_s=60)
        return await flood.send(FIRST, size)


async def test_first_requests_go_as_often_as_asked_before_any_prompt_of_the_flood() -> None:
    server = Server()

    sent = await flooded(server, FloodSize(tokens=100, prompt_tokens=50, repeats=2))

    assert server.bodies[:6] == [*FIRST, *FIRST]
    assert all(body["max_tokens"] == 1 for body in server.bodies[6:])
    assert (sent.first_requests, sent.prompts) == (6, len(server.bodies) - 6)


async def test_the_flood_is_as_large_as_asked_by_the_servers_own_count() -> None:
    server = Server()

    sent = await flooded(server, FloodSize(tokens=20_000, prompt_tokens=200, repeats=1))

    prompts = server.tokens[3:]
    assert sent.tokens == sum(prompts)
    # The first prompts are sized by a guess; by then as many more may be under way.
    assert 20_000 <= sent.tokens <= 20_000 + 2 * AT_ONCE * 200
    assert all(190 <= tokens <= 210 for tokens in prompts[AT_ONCE:])


async def test_no_prompt_begins_like_another() -> None:
    server = Server()

    await flooded(server, FloodSize(tokens=5_000, prompt_tokens=100, repeats=1))

    texts = [body["messages"][0]["content"] for body in server.bodies[3:]]
    assert len({text[:60] for text in texts}) == len(texts)


async def test_a_server_that_counts_nothing_is_flooded_by_the_word() -> None:
    server = Server(counts=False)

    sent = await flooded(server, FloodSize(tokens=1_000, prompt_tokens=100, repeats=1))

    words = sum(len(body["messages"][0]["content"].split()) for body in server.bodies[3:])
    assert sent.tokens == words >= 1_000


async def test_a_prompt_that_is_too_long_is_told_in_one_sentence() -> None:
    with pytest.raises(StackControlError, match="answered 400: longest prompt: 50") as raised:
        await flooded(Server(most=50), FloodSize(tokens=1_000, prompt_tokens=100, repeats=1))

    assert "name a smaller prompt_tokens" in str(raised.value)
