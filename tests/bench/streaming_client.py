"""How many chunks a second the streaming client takes in, by transport: the ratio is the figure.

`python -m tests.bench.streaming_client` measures all transports against one stub server in one run,
because the machine's speed differs from run to run.
"""

import asyncio
import resource
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import NamedTuple

import httpx

from db.vocabulary import TransportEnd
from runner.campaign.campaign import Deadlines
from runner.sessions.session_transport import session_transport
from runner.sessions.streaming_client import StreamingClient

CHUNKS = 200
DEADLINES = Deadlines(connect_s=60, first_token_s=300, no_progress_s=300, session_s=300)


class Load(NamedTuple):
    """`pace_ms` is the time between two chunks of a stream; 0 is as fast as it goes."""

    name: str
    streams: int
    requests_each: int
    pace_ms: int


class Speed(NamedTuple):
    chunks_per_s: float
    cpu_us_per_chunk: float


LOADS = (
    Load("unpaced, 80 streams", streams=80, requests_each=4, pace_ms=0),
    Load("20 ms a chunk, 80 streams", streams=80, requests_each=1, pace_ms=20),
    Load("20 ms a chunk, 300 streams", streams=300, requests_each=1, pace_ms=20),
)
TRANSPORTS: dict[str, Callable[[], httpx.AsyncBaseTransport]] = {
    "aiohttp": session_transport,
    "httpx": lambda: httpx.AsyncHTTPTransport(
        limits=httpx.Limits(max_connections=None, max_keepalive_connections=None)
    ),
}


@asynccontextmanager
async def stub_server(pace_ms: int) -> AsyncIterator[str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.bench.stub_server",
        str(CHUNKS),
        str(pace_ms),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{int(await process.stdout.readline())}"
    finally:
        process.kill()
        await process.wait()


async def measure(url: str, load: Load, transport: httpx.AsyncBaseTransport) -> Speed:
    async with StreamingClient(url, transport=transport, deadlines=DEADLINES) as client:
        started, cpu = time.perf_counter(), _cpu_s()
        async with asyncio.TaskGroup() as group:
            for _ in range(load.streams):
                group.create_task(_play(client, load.requests_each))
        took_s, used_s = time.perf_counter() - started, _cpu_s() - cpu
    chunks = load.streams * load.requests_each * CHUNKS
    return Speed(chunks / took_s, used_s / chunks * 1e6)


async def _play(client: StreamingClient, requests: int) -> None:
    for number in range(requests):
        record = await client.send({"stream": True, "messages": []}, request_id=f"q-{number}")
        assert record.transport_end is TransportEnd.CLEAN_EOF
        assert record.body.count(b"data:") == CHUNKS + 1


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def main() -> None:
    for load in LOADS:
        async with stub_server(load.pace_ms) as url:
            speeds = {name: await measure(url, load, make()) for name, make in TRANSPORTS.items()}
        for name, speed in speeds.items():
            _say(
                f"{load.name:28} {name:8} {speed.chunks_per_s:10,.0f} chunks/s "
                f"{speed.cpu_us_per_chunk:7.1f} us of CPU a chunk"
            )
        ratio = speeds["aiohttp"].chunks_per_s / speeds["httpx"].chunks_per_s
        _say(f"{load.name:28} aiohttp / httpx = {ratio:.1f}")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main())
