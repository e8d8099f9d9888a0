"""How fast the client of the sessions is, beside other clients: the ratio is the figure.

`python -m tests.bench.streaming_client` measures all of them against one stub server in one run,
the server on one core and the client on another, because a machine's speed differs from run to run.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport
from sqlmodel import func, select

from db.clock import SystemClock
from db.recorder import Recorder
from db.tables import SessionRow
from db.vocabulary import RunState, TransportEnd
from runner.campaign.campaign import Deadlines
from runner.event_loop import run_on_loop
from runner.sessions.agent_loop import SessionSettings, play_session
from runner.sessions.chat_request import ChatRequest
from runner.sessions.client_health import HealthWatch
from runner.sessions.played_session import PlayedSession
from runner.sessions.record_rows import to_ended_session
from runner.sessions.session_loop import drive_sessions
from runner.sessions.session_transport import session_transport
from runner.sessions.streaming_client import StreamingClient
from runner.sessions.tool_dialogue import ToolDialogue
from tests.db.factories import fresh_store, stored_campaign, stored_id, stored_run

CHUNKS = 200
DEADLINES = Deadlines(connect_s=60, first_token_s=300, no_progress_s=300, session_s=300)
SERVER_CORE, CLIENT_CORE = 0, 1


class Load(NamedTuple):
    """`pace_ms` is the time between two chunks of a stream; 0 is as fast as it goes."""

    streams: int
    requests_each: int
    pace_ms: int

    @property
    def chunks(self) -> int:
        return self.streams * self.requests_each * CHUNKS

    @property
    def ideal_chunks_per_s(self) -> float | None:
        """An answer takes a tick before its first chunk and one after its last."""
        if not self.pace_ms:
            return None
        return self.streams * CHUNKS * 1000 / ((CHUNKS + 2) * self.pace_ms)

    def __str__(self) -> str:
        pace = f"a chunk each {self.pace_ms} ms" if self.pace_ms else "as fast as it goes"
        return f"{self.streams} streams, {pace}"


class Speed(NamedTuple):
    """Of one client over one load; `cpu_s` counts all its threads."""

    wall_s: float
    cpu_s: float
    said: str


Drive = Callable[[], Awaitable[str]]
Client = Callable[[str, Load], AbstractAsyncContextManager[Drive]]
"""Sets a client up; what it gives plays the load, is what is timed, and says how the client was."""

MANY = Load(streams=2_000, requests_each=1, pace_ms=200)
LOADS = (
    Load(streams=80, requests_each=12, pace_ms=0),
    Load(streams=80, requests_each=3, pace_ms=20),
    Load(streams=500, requests_each=3, pace_ms=20),
    MANY,
)


def over(transport: Callable[[], httpx.AsyncBaseTransport]) -> Client:
    """Our client without judging and recording, its bytes carried by this transport."""

    @asynccontextmanager
    async def client(url: str, load: Load) -> AsyncIterator[Drive]:
        async def play() -> None:
            for number in range(load.requests_each):
                record = await sender.send({"stream": True}, request_id=f"q-{number}")
                assert record.transport_end is TransportEnd.CLEAN_EOF
                assert record.body.count(b"data:") == CHUNKS + 2  # the finish and [DONE] too

        async with StreamingClient(url, transport=transport(), deadlines=DEADLINES) as sender:
            yield lambda: _at_once(play() for _ in range(load.streams))

    return client


@asynccontextmanager
async def whole(url: str, load: Load) -> AsyncIterator[Drive]:
    """Sessions as in a campaign: parsed, judged, and stored in SQLite."""
    dialogue = ToolDialogue(seed=7, rounds=1, context_tokens=0).dialogue(0)
    settings = SessionSettings(
        request=ChatRequest(model="stub", max_tokens=CHUNKS), session_s=300, request_prefix="r"
    )
    with tempfile.TemporaryDirectory() as folder, closing(fresh_store(Path(folder))) as store:
        arm = stored_campaign(store).arms[0]
        run_id = stored_id(stored_run(store, arm, state=RunState.DRIVING))
        sender = StreamingClient(url, transport=session_transport(), deadlines=DEADLINES)

        async def play(index: int) -> PlayedSession:
            return await play_session(
                dialogue,
                session_index=index,
                settings=settings,
                client=sender,
                think_times_s=iter(()),
                clock=SystemClock(),
            )

        async def on_ended(played: PlayedSession) -> None:
            assert played.judgement.outcome == "no_tool", played.judgement.detail
            await recorder.session_ended(to_ended_session(played, run_id=run_id))

        async def drive() -> str:
            watch = HealthWatch(sender)
            async with watch.watching():
                await drive_sessions(
                    range(load.streams * load.requests_each),
                    concurrency=load.streams,
                    play=play,
                    on_ended=on_ended,
                    stop=asyncio.Event(),
                )
            with store.session() as session:
                kept = session.scalar(select(func.count(SessionRow.id)))  # type: ignore[arg-type]
            assert kept == load.streams * load.requests_each
            health = watch.health()
            state = "saturated" if health.saturated else "starved" if health.starved else "fine"
            return f"{state}, loop late by {health.lag_p99_s * 1000:.0f} ms at p99"

        with Recorder(store) as recorder:
            async with sender:
                yield drive


@asynccontextmanager
async def plain_loop(url: str, load: Load) -> AsyncIterator[Drive]:
    """An aiohttp loop as benchmark scripts have it: decodes each chunk, keeps its text and time."""

    async def play() -> None:
        for _ in range(load.requests_each):
            text, times, held = "", [], b""
            async with session.post(f"{url}/v1/chat/completions", json={"stream": True}) as answer:
                async for data in answer.content.iter_any():
                    *events, held = (held + data).split(b"\n\n")
                    for event in events:
                        if event != b"data: [DONE]":
                            delta = json.loads(event[6:])["choices"][0]["delta"]
                            text += delta.get("content", "")
                            times.append(time.perf_counter())
            assert len(times) == CHUNKS + 1  # the finish too

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, read_bufsize=2**22) as session:
        yield lambda: _at_once(play() for _ in range(load.streams))


CLIENTS: dict[str, Client] = {
    "ours, parsed, judged, recorded": whole,
    "ours": over(session_transport),
    "httpx over aiohttp": over(AiohttpTransport),
    "httpx": over(
        lambda: httpx.AsyncHTTPTransport(
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=None)
        )
    ),
    "aiohttp loop": plain_loop,
}


async def _at_once(plays: Iterable[Coroutine[None, None, None]]) -> str:
    async with asyncio.TaskGroup() as group:
        for play in plays:
            group.create_task(play)
    return ""


@contextmanager
def stub_server(pace_ms: int) -> Iterator[str]:
    command = [sys.executable, "-m", "tests.bench.stub_server", str(CHUNKS), str(pace_ms)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        _pin(process.pid, SERVER_CORE)
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


def measured(name: str, url: str, load: Load) -> Speed:
    """In a process of its own, so that no client pays for another's garbage."""
    command = [sys.executable, "-m", "tests.bench.streaming_client", name, url, *map(str, load)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return Speed(*json.loads(done.stdout))


async def measure_here(name: str, url: str, load: Load) -> Speed:
    async with CLIENTS[name](url, load) as drive:
        started, cpu = time.perf_counter(), _cpu_s()
        said = await drive()
        return Speed(time.perf_counter() - started, _cpu_s() - cpu, said)


def row(name: str, load: Load, speed: Speed) -> str:
    rate = load.chunks / speed.wall_s
    ideal = load.ideal_chunks_per_s
    share = "" if ideal is None else f"{rate / ideal:.1%}"
    per_chunk = speed.cpu_s / load.chunks * 1e6
    core = speed.cpu_s / speed.wall_s
    return f"| {name} | {rate:,.0f} | {share} | {per_chunk:.1f} | {core:.0%} | {speed.said} |"


def main() -> None:
    for load in LOADS:
        _say(f"\n{load}\n")
        _say("| client | chunks/s | of the ideal | us of CPU a chunk | of a core | itself |")
        _say("| --- | --- | --- | --- | --- | --- |")
        with stub_server(load.pace_ms) as url:
            for name in CLIENTS if load is not MANY else [next(iter(CLIENTS))]:
                _say(row(name, load, measured(name, url, load)))


def _pin(process_id: int, core: int) -> None:
    if core in os.sched_getaffinity(0):
        os.sched_setaffinity(process_id, {core})


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        name, url, *load = sys.argv[1:]
        _pin(0, CLIENT_CORE)
        _say(json.dumps(run_on_loop(measure_here(name, url, Load(*map(int, load))))))
    else:
        main()
