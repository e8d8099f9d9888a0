"""How fast the client of the sessions is, beside other clients: the ratio is the figure.

`python -m tests.bench.streaming_client [LOAD[,LOAD ...] [ROUNDS]]` measures all of them against one
stub server in one run, the server on one core and the client on another, because a machine's speed
differs from run to run. It also differs from second to second: with ROUNDS, each client is measured
so often, in turns with the others, and the middle one counts. LOAD is the number of one of the
loads, from 1; all of them else.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import aiohttp
import httpx
from httpx_aiohttp import AiohttpTransport
from sqlmodel import func, select

from db.clock import SystemClock
from db.recorder import Recorder
from db.tables.sessions import SessionRow
from db.vocabulary import RunState, TransportEnd
from runner.campaign.campaign import Deadlines, Workload
from runner.event_loop import run_on_loop
from runner.sessions.chat_request import ChatRequest
from runner.sessions.client_health import ClientHealth, HealthWatch
from runner.sessions.client_setting import ClientSetting
from runner.sessions.played_session import PlayedSession
from runner.sessions.record_rows import to_late_session
from runner.sessions.session_loop import Play, drive_sessions
from runner.sessions.session_transport import session_transport
from runner.sessions.shards import Shards
from runner.sessions.streaming_client import StreamingClient
from tests.bench.bare_reads import bare_reads
from tests.bench.peer_clients import PEERS, PeerFailedError, peer_requests_per_s
from tests.bench.stream_load import ALL_AT_ONCE, CHUNKS, LOADS, MANY, Load
from tests.db.factories import stored_campaign, stored_id, stored_run
from tests.db.fresh_stores import fresh_store

DEADLINES = Deadlines(connect_s=60, first_token_s=300, no_progress_s=300, session_s=300)
SERVER_CORE, CLIENT_CORE = 0, 1
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


class Speed(NamedTuple):
    """Of one client over one load; `cpu_s` counts all its threads and processes."""

    wall_s: float
    cpu_s: float | None
    said: str


Drive = Callable[[], Awaitable[str]]
Client = Callable[[str, Load], AbstractAsyncContextManager[Drive]]
"""Sets a client up; what it gives plays the load, is what is timed, and says how the client was."""


def over(transport: Callable[[], httpx.AsyncBaseTransport]) -> Client:
    """Our client without judging and recording, its bytes carried by this transport."""

    @asynccontextmanager
    async def client(url: str, load: Load) -> AsyncIterator[Drive]:
        left = iter(range(load.requests))  # shared: whoever has ended takes the next

        async def play() -> None:
            for number in left:
                record = await sender.send({"stream": True}, request_id=f"q-{number}")
                assert record.transport_end is TransportEnd.CLEAN_EOF
                assert record.body.endswith(b"data: [DONE]\n\n")

        async with StreamingClient(url, transport=transport(), deadlines=DEADLINES) as sender:
            yield lambda: _at_once(play() for _ in range(load.streams))

    return client


@asynccontextmanager
async def whole(url: str, load: Load, *, processes: int = 1) -> AsyncIterator[Drive]:
    """Sessions as in a campaign: parsed, judged, and stored in SQLite."""
    setting = ClientSetting(
        base_url=url,
        workload=Workload(
            sessions=load.requests, rounds=1, context_tokens=0, seed=7, deadlines=DEADLINES
        ),
        folder=Path(),
        request=ChatRequest(model="stub", max_tokens=CHUNKS),
        request_prefix="r",
    )
    with tempfile.TemporaryDirectory() as folder, closing(fresh_store(Path(folder))) as store:
        arm = stored_campaign(store).arms[0]
        run_id = stored_id(stored_run(store, arm, state=RunState.DRIVING))
        scenario = setting.scenario()
        outcomes: Counter[str] = Counter()

        async def on_ended(played: PlayedSession) -> None:
            outcomes[played.judgement.outcome] += 1
            await recorder.session_ended(to_late_session(played, run_id=run_id))

        async def drive(play: Play, watch: HealthWatch) -> str:
            async with watch.watching():
                await drive_sessions(
                    range(load.requests),
                    concurrency=load.streams,
                    play=play,
                    on_ended=on_ended,
                    stop=asyncio.Event(),
                )
            with store.session() as session:
                kept = session.scalar(select(func.count(SessionRow.id)))  # type: ignore[arg-type]
            assert (kept, dict(outcomes)) == (load.requests, {"no_tool": load.requests})
            return _in_words(watch.health())

        with Recorder(store) as recorder:
            async with setting.client() as client:
                if processes == 1:
                    player = setting.player(client, scenario, SystemClock())
                    yield partial(drive, player.play, HealthWatch(client))
                    return
                shards = Shards(
                    setting,
                    count=processes,
                    scenario_name=scenario.name,
                    beside=client,
                    clock=SystemClock(),
                    on_lost=_say,
                )
                async with shards.running():
                    yield partial(drive, shards.play, HealthWatch(shards))


@asynccontextmanager
async def plain_loop(url: str, load: Load) -> AsyncIterator[Drive]:
    """An aiohttp loop as benchmark scripts have it: decodes each chunk, keeps its text and time."""

    left = iter(range(load.requests))

    async def play() -> None:
        for _ in left:
            text, times, held = "", [], b""
            async with session.post(f"{url}/v1/chat/completions", json={"stream": True}) as answer:
                async for data in answer.content.iter_any():
                    *events, held = (held + data).split(b"\n\n")
                    for event in events:
                        if event != b"data: [DONE]":
                            delta = json.loads(event[6:])["choices"][0]["delta"]
                            text += delta.get("content", "")
                            times.append(time.perf_counter())
            assert times and not held

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, read_bufsize=2**22) as session:
        yield lambda: _at_once(play() for _ in range(load.streams))


WHOLE = "ours, parsed, judged, recorded"
IN_TWO = "the same in 2 processes"
CLIENTS: dict[str, Client] = {
    WHOLE: whole,
    IN_TWO: partial(whole, processes=2),
    "ours, not judged, not recorded": over(session_transport),
    "httpx over aiohttp": over(AiohttpTransport),
    "httpx": over(
        lambda: httpx.AsyncHTTPTransport(
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=None)
        )
    ),
    "aiohttp loop": plain_loop,
    "reads alone, nothing parsed": bare_reads,
}
ONLY_OURS = {MANY: (WHOLE, IN_TWO), ALL_AT_ONCE: (WHOLE,)}


async def _at_once(plays: Iterable[Coroutine[None, None, None]]) -> str:
    async with asyncio.TaskGroup() as group:
        for play in plays:
            group.create_task(play)
    return ""


def _in_words(health: ClientHealth) -> str:
    state = "saturated" if health.saturated else "starved" if health.starved else "fine"
    return f"{state}, loop late by {health.lag_p99_s * 1000:.0f} ms at p99"


@contextmanager
def stub_server(load: Load) -> Iterator[str]:
    numbers = map(str, (CHUNKS, load.pace_ms, load.spread))
    command = [sys.executable, "-m", "tests.bench.stub_server", *numbers]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        _pin(process.pid, SERVER_CORE)
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.kill()


def measured(name: str, load: Load) -> Speed:
    """In a process of its own, so that no client pays for another's garbage."""
    with stub_server(load) as url:
        command = [sys.executable, "-m", "tests.bench.streaming_client", name, url]
        done = subprocess.run(
            [*command, json.dumps(load)], stdout=subprocess.PIPE, check=True, text=True
        )
    return Speed(*json.loads(done.stdout.splitlines()[-1]))


async def measure_here(name: str, url: str, load: Load) -> Speed:
    async with CLIENTS[name](url, load) as drive:
        started, cpu = time.perf_counter(), _cpu_s()
        said = await drive()
        return Speed(time.perf_counter() - started, _cpu_s() - cpu, said)


def measured_peer(name: str, load: Load) -> Speed | str:
    """How fast it was, or why that is not known."""
    try:
        with stub_server(load) as url:
            requests_per_s = peer_requests_per_s(name, url, load)
    except PeerFailedError as error:
        return f"failed: {error}"
    if requests_per_s is None:
        return f"skipped: {PEERS[name][0]} names no program"
    return Speed(load.requests / requests_per_s, None, "")


def row(name: str, load: Load, speeds: Sequence[Speed | str]) -> str:
    """The middle one of those that are known."""
    known = [speed for speed in speeds if isinstance(speed, Speed)]
    if not known:
        return f"| {name} | | | | | {speeds[0]} |"
    known.sort(key=lambda speed: speed.wall_s)
    speed = known[len(known) // 2]
    ideal_s = load.ideal_wall_s
    share = "" if ideal_s is None else f"{ideal_s / speed.wall_s:.1%}"
    per_chunk = core = ""
    if speed.cpu_s is not None:
        per_chunk = f"{speed.cpu_s / load.chunks * 1e6:.1f}"
        core = f"{speed.cpu_s / speed.wall_s:.0%}"
    rate = f"{load.chunks / speed.wall_s:,.0f}"
    return f"| {name} | {rate} | {share} | {per_chunk} | {core} | {speed.said} |"


def main(loads: Iterable[Load], rounds: int) -> None:
    for load in loads:
        ours, others = ONLY_OURS.get(load, CLIENTS), () if load in ONLY_OURS else PEERS
        speeds: defaultdict[str, list[Speed | str]] = defaultdict(list)
        for _ in range(rounds):
            for name in ours:
                speeds[name].append(measured(name, load))
            for name in others:
                speeds[name].append(measured_peer(name, load))
        _say(f"\n**{load}**\n")
        _say("| client | chunks/s | of the ideal | us of CPU a chunk | of a core | itself |")
        _say("| --- | --- | --- | --- | --- | --- |")
        for name, known in speeds.items():
            _say(row(name, load, known))
        if rounds > 1:
            each = [f"{name} {_rates(known, load)}" for name, known in speeds.items()]
            _say(f"\nChunks a second, round by round: {'; '.join(each)}.")


def _rates(speeds: Iterable[Speed | str], load: Load) -> str:
    each = (
        f"{load.chunks / speed.wall_s:,.0f}" if isinstance(speed, Speed) else "unknown"
        for speed in speeds
    )
    return " / ".join(each)


def _pin(process_id: int, core: int) -> None:
    if core in os.sched_getaffinity(0):
        os.sched_setaffinity(process_id, {core})


def _cpu_s() -> float:
    """Of this process and of those that it started, which still run."""
    me = os.getpid()
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text("ascii", "replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(stat.parent.name) == me or int(fields[1]) == me:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / _TICKS_PER_S


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) > 3:
        _pin(0, CLIENT_CORE)
        name, url, load = sys.argv[1], sys.argv[2], Load(*json.loads(sys.argv[3]))
        _say(json.dumps(run_on_loop(measure_here(name, url, load))))
    else:
        numbers = sys.argv[1].split(",") if len(sys.argv) > 1 else []
        rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 1
        main([LOADS[int(number) - 1] for number in numbers] or LOADS, rounds)
