"""Clients that hang up: the server sees it, and nothing of it is taken for evidence."""

import asyncio

from runner.campaign.campaign import Deadlines
from runner.sessions.cancelling_clients import CancellingClients
from runner.sessions.chat_request import ChatRequest
from runner.sessions.session_transport import session_transport
from runner.sessions.streaming_client import StreamingClient
from runner.sessions.tool_dialogue import ToolDialogue
from tests.runner.sessions import wire
from tests.runner.sessions.raw_server import HEAD, Peer, raw_server

PATIENT = Deadlines(connect_s=30, first_token_s=30, no_progress_s=30, session_s=30)


async def test_each_client_leaves_its_answers_in_the_middle_and_goes_on() -> None:
    left = asyncio.Semaphore(0)
    names: list[str] = []

    async def answer(peer: Peer) -> None:
        peer.write(HEAD)
        peer.write_chunk(wire.text("Well"))
        await peer.until_closed()
        left.release()

    async with (
        raw_server(answer) as server,
        StreamingClient(server.url, transport=session_transport(), deadlines=PATIENT) as client,
    ):
        clients = CancellingClients(
            count=3,
            scenario=ToolDialogue(seed=1, rounds=1, context_tokens=0),
            client=client,
            request=ChatRequest(model="m", max_tokens=9),
            request_prefix="r7",
            seed=1,
            on_sent=names.append,
            sleep=lambda _: asyncio.sleep(0),
        )
        task = asyncio.create_task(clients.run())
        for _ in range(9):
            await asyncio.wait_for(left.acquire(), 30)
        task.cancel()
        await asyncio.wait([task])

    assert task.cancelled()
    assert len(names) == len(set(names)) >= 9
    assert {name.split("-")[1] for name in names} == {"x0", "x1", "x2"}
    assert client.in_flight == 0


async def test_without_clients_nothing_is_sent() -> None:
    async with (
        raw_server(_never) as server,
        StreamingClient(server.url, transport=session_transport(), deadlines=PATIENT) as client,
    ):
        await CancellingClients(
            count=0,
            scenario=ToolDialogue(seed=1, rounds=1, context_tokens=0),
            client=client,
            request=ChatRequest(model="m", max_tokens=9),
            request_prefix="r7",
            seed=1,
            on_sent=str,
        ).run()

    assert server.requests == 0


async def _never(peer: Peer) -> None:
    raise AssertionError("no request was expected")
