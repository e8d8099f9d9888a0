"""Sessions in several processes: the results of one, exactly as many at a time, and no hang."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from db.clock import SystemClock
from db.session_writing import EndedSession, column_values
from db.vocabulary import Outcome
from runner.campaign.campaign import Workload
from runner.errors import ClientProcessLostError, ConfigError
from runner.sessions.chat_request import ChatRequest
from runner.sessions.client_health import assess
from runner.sessions.client_setting import ClientSetting
from runner.sessions.played_session import PlayedSession
from runner.sessions.record_rows import to_ended_session
from runner.sessions.session_loop import DriveProgress, Play, drive_sessions
from runner.sessions.shard import Shard
from runner.sessions.shards import Shards
from tests.runner.sessions import wire
from tests.runner.sessions.raw_server import HEAD, LAST_CHUNK, Peer, raw_server

PATIENCE_S = 120
# What differs between two playings of the same sessions.
TIMES = {
    "started_at_us",
    "ended_at_us",
    "first_token_s",
    "first_byte_s",
    "last_progress_s",
    "duration_s",
}


def a_setting(url: str, **workload: Any) -> ClientSetting:
    return ClientSetting(
        base_url=url,
        workload=Workload(sessions=12, rounds=1, context_tokens=0, seed=7, **workload),
        folder=Path(),
        request=ChatRequest(model="m", max_tokens=50),
        request_prefix="r1",
        headers={"authorization": "Bearer secret-key"},
    )


@asynccontextmanager
async def shards_of(
    setting: ClientSetting, *, count: int = 2, lost: list[str] | None = None
) -> AsyncIterator[Shards]:
    async with setting.client() as beside:
        shards = Shards(
            setting,
            count=count,
            scenario_name="tool-dialogue-2/7",
            beside=beside,
            clock=SystemClock(),
            on_lost=[].append if lost is None else lost.append,
        )
        async with asyncio.timeout(PATIENCE_S), shards.running():
            yield shards


async def drive(
    play: Play, *, sessions: int, concurrency: int, progress: DriveProgress | None = None
) -> list[PlayedSession]:
    ended: list[PlayedSession] = []

    async def keep(played: PlayedSession) -> None:
        ended.append(played)

    await drive_sessions(
        range(sessions),
        concurrency=concurrency,
        play=play,
        on_ended=keep,
        stop=asyncio.Event(),
        progress=progress,
    )
    return sorted(ended, key=lambda played: played.session_index)


async def answer_by_number(peer: Peer) -> None:
    """Text, raw markup, half a character, or a reset, as the session's number has it."""
    session = int(peer.head.split(b"x-request-id: r1-s")[1].split(b"-")[0])
    words = ("The answer.", "<tool_call>{}</tool_call>", "half a \ud83d character")[session % 4 % 3]
    peer.write(HEAD)
    peer.write_chunk(wire.role() + wire.text(words))
    if session % 4 == 3:
        peer.reset()
        return
    peer.write_chunk(wire.chunk(finish="stop") + wire.usage(9, 3) + wire.DONE)
    peer.write(LAST_CHUNK)


def without_times(ended: EndedSession) -> list[Any]:
    rows = [ended.session, *(turn.turn for turn in ended.turns)]
    values = [{k: v for k, v in column_values(row).items() if k not in TIMES} for row in rows]
    return [*values, *((turn.request, turn.response) for turn in ended.turns)]


async def test_two_processes_record_what_one_records_but_for_the_times() -> None:
    progress = DriveProgress()
    async with raw_server(answer_by_number) as server:
        setting = a_setting(server.url)
        async with setting.client() as client:
            player = setting.player(client, setting.scenario(), SystemClock())
            in_one = await drive(player.play, sessions=12, concurrency=5)
        async with shards_of(setting) as shards:
            in_two = await drive(shards.play, sessions=12, concurrency=5, progress=progress)

    assert len({played.judgement.outcome for played in in_one}) >= 3
    assert [without_times(to_ended_session(played, run_id=1)) for played in in_two] == [
        without_times(to_ended_session(played, run_id=1)) for played in in_one
    ]
    assert (progress.ended, progress.most_in_flight) == (12, 5)
    health = shards.health(assess([], most_in_flight=5))
    assert (health.processes, health.most_in_flight) == (3, 5)
    assert (shards.sent, shards.open_requests()) == (12, ())


def requests_held(arrived: asyncio.Semaphore, open_now: asyncio.Event) -> Any:
    """Counts a request, and answers it once `open_now` is set."""

    async def answer(peer: Peer) -> None:
        arrived.release()
        await open_now.wait()
        await answer_by_number(peer)

    return answer


async def test_hundreds_are_open_at_the_same_time_and_none_is_lost() -> None:
    sessions = 300
    arrived, open_now = asyncio.Semaphore(0), asyncio.Event()
    async with (
        raw_server(requests_held(arrived, open_now)) as server,
        shards_of(a_setting(server.url)) as shards,
    ):
        driving = asyncio.create_task(drive(shards.play, sessions=sessions, concurrency=sessions))
        for _ in range(sessions):  # none is answered before the last one is here
            await arrived.acquire()
        open_now.set()
        played = await driving

    assert [p.session_index for p in played] == list(range(sessions))
    assert not [p for p in played if p.judgement.outcome is Outcome.HARNESS_ERROR]


async def test_what_a_killed_process_was_playing_is_our_own_fault_and_the_others_go_on() -> None:
    arrived, open_now = asyncio.Semaphore(0), asyncio.Event()
    lost: list[str] = []
    async with (
        raw_server(requests_held(arrived, open_now)) as server,
        shards_of(a_setting(server.url), lost=lost) as shards,
    ):
        driving = asyncio.create_task(drive(shards.play, sessions=8, concurrency=4))
        for _ in range(4):
            await arrived.acquire()
        first = shards.shards[0].process
        assert first is not None
        first.kill()
        for _ in range(2):  # the places of its sessions are taken by those that come next
            await arrived.acquire()
        open_now.set()
        played = await driving

    said = "client process 1 of 2 was killed by SIGKILL"
    assert [p.session_index for p in played] == list(range(8))
    faults = [p for p in played if p.judgement.outcome is Outcome.HARNESS_ERROR]
    assert [p.session_index for p in faults] == [0, 2]
    assert all(said in p.judgement.detail for p in faults)
    assert lost == [said]


async def test_without_any_process_the_drive_ends_in_one_sentence() -> None:
    arrived, open_now = asyncio.Semaphore(0), asyncio.Event()
    async with (
        raw_server(requests_held(arrived, open_now)) as server,
        shards_of(a_setting(server.url), count=1) as shards,
    ):
        driving = asyncio.create_task(drive(shards.play, sessions=3, concurrency=1))
        await arrived.acquire()
        only = shards.shards[0].process
        assert only is not None
        only.kill()
        with pytest.RaisesGroup(
            pytest.RaisesExc(ClientProcessLostError, match="no process is left .* SIGKILL")
        ):
            await driving


async def test_a_cancelled_drive_names_its_sessions_and_leaves_the_server() -> None:
    arrived = asyncio.Semaphore(0)
    progress = DriveProgress()

    async def answer(peer: Peer) -> None:
        arrived.release()
        await peer.until_closed()

    async with raw_server(answer) as server, shards_of(a_setting(server.url)) as shards:
        driving = asyncio.create_task(
            drive(shards.play, sessions=9, concurrency=4, progress=progress)
        )
        for _ in range(4):
            await arrived.acquire()
        driving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await driving
        await server.closed_by_client.wait()

    assert sorted(progress.interrupted) == [0, 1, 2, 3]


async def test_a_process_that_falls_silent_is_ended_and_said_so() -> None:
    lost: list[str] = []
    async with raw_server(answer_by_number) as server:
        shard = Shard("client process 1 of 1", silence_s=0.7, on_lost=lost.append)
        try:
            await shard.start(a_setting(server.url))
            assert shard.process is not None
            shard.process.send_signal(signal.SIGSTOP)
            with pytest.raises(ClientProcessLostError, match=r"said nothing for 2\.1 s"):
                await shard.play(0)
        finally:
            await shard.finish()

    assert len(lost) == 1
    assert shard.process.poll() is not None


async def test_what_cannot_be_played_is_said_before_any_session_begins() -> None:
    setting = a_setting("http://127.0.0.1:9", scenario="no.such.module:scenario")
    sentence = r"^workload\.scenario: no\.such\.module:scenario gives no scenario"
    with pytest.raises(ConfigError, match=sentence):
        async with shards_of(setting):
            pytest.fail("it must not come so far")


PARENT = """
import asyncio, sys
from tests.runner.sessions.test_shards import a_setting, shards_of

async def play() -> None:
    async with shards_of(a_setting(sys.argv[1])) as shards:
        await asyncio.gather(shards.play(0), shards.play(1))

asyncio.run(play())
"""


async def test_processes_end_with_their_parent_however_it_ends() -> None:
    arrived, left = asyncio.Semaphore(0), asyncio.Semaphore(0)

    async def answer(peer: Peer) -> None:
        arrived.release()
        await peer.until_closed()
        left.release()

    async with raw_server(answer) as server, asyncio.timeout(PATIENCE_S):
        parent = await asyncio.create_subprocess_exec(sys.executable, "-c", PARENT, server.url)
        try:
            for _ in range(2):
                await arrived.acquire()
            parent.kill()
            for _ in range(2):
                await left.acquire()
        finally:
            if parent.returncode is None:
                parent.kill()
            await parent.wait()
