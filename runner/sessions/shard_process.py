"""One of the processes that play the sessions of a run: one event loop, one client.

`python -m runner.sessions.shard_process FD` speaks over that socket. It plays what it is told to,
stores nothing, and ends when the other side does. Signals are its parent's business.
"""

import asyncio
import os
import pickle
import signal
import socket
import sys

from db.clock import SystemClock
from runner.errors import ConfigError
from runner.event_loop import end_task, run_on_loop
from runner.sessions.client_health import HealthWatch
from runner.sessions.client_setting import ClientSetting
from runner.sessions.session_player import SessionPlayer
from runner.sessions.shard_messages import (
    Begin,
    Cancel,
    Farewell,
    Finish,
    FromShard,
    Play,
    Played,
    Ready,
    Refused,
    Status,
    framed,
    next_to_shard,
)
from runner.sessions.streaming_client import StreamingClient

STATUS_EVERY_S = 1.0
_LEFT_TO_THE_PARENT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main() -> None:
    os.dup2(2, 1)  # standard output is the parent's: nothing that a scenario calls writes there
    for number in _LEFT_TO_THE_PARENT:
        signal.signal(number, signal.SIG_IGN)
    run_on_loop(_serve(socket.socket(fileno=int(sys.argv[1]))))


async def _serve(connection: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=connection)
    begin = await next_to_shard(reader)
    if not isinstance(begin, Begin):
        return
    try:
        setting: ClientSetting = pickle.loads(begin.setting)  # of our own parent
        client = setting.client()
        player = setting.player(client, setting.scenario(), SystemClock())
    except Exception as error:  # whatever it is, the parent is to say it
        is_sentence = isinstance(error, ConfigError)
        said = str(error) if is_sentence else f"{type(error).__name__}: {error}"
        writer.write(framed(Refused(said)))
        await writer.drain()
        return
    watch = HealthWatch(client)
    async with client, watch.watching():
        await _Shard(client, player, watch, writer).follow(reader)


class _Shard:
    def __init__(
        self,
        client: StreamingClient,
        player: SessionPlayer,
        watch: HealthWatch,
        writer: asyncio.StreamWriter,
    ) -> None:
        self._client = client
        self._player = player
        self._watch = watch
        self._writer = writer
        self._playing: dict[int, asyncio.Task[None]] = {}

    async def follow(self, reader: asyncio.StreamReader) -> None:
        """Does as it is told until it is told to finish, or until nobody is there to tell."""
        telling = asyncio.create_task(self._tell_status(), name="status")
        try:
            await self._say(Ready())
            while (message := await next_to_shard(reader)) is not None:
                match message:
                    case Play(index):
                        self._playing[index] = asyncio.create_task(self._play(index))
                    case Cancel(index):
                        if (task := self._playing.get(index)) is not None:
                            task.cancel()
                    case Finish():
                        await self._drop_all()
                        await self._say(Farewell(self._status(), self._watch.health()))
                        return
                    case Begin():
                        raise AssertionError("it has begun already")
        except ConnectionError:
            return
        finally:
            await end_task(telling)
            await self._drop_all()

    async def _play(self, index: int) -> None:
        try:
            played = await self._player.play(index)
            await self._say(Played(index, pickle.dumps(played, pickle.HIGHEST_PROTOCOL)))
        except ConnectionError:
            return  # nobody is there to hear it; `follow` sees the same
        finally:
            del self._playing[index]

    async def _drop_all(self) -> None:
        tasks = list(self._playing.values())
        await asyncio.gather(*(end_task(task) for task in tasks))

    async def _tell_status(self) -> None:
        while True:
            await asyncio.sleep(STATUS_EVERY_S)
            await self._say(self._status())

    def _status(self) -> Status:
        progress_at = self._client.progress_at()
        now_s = asyncio.get_running_loop().time()
        return Status(
            sent=self._client.sent,
            quiet_s=None if progress_at is None else now_s - progress_at,
            open_requests=self._client.open_requests(),
        )

    async def _say(self, message: FromShard) -> None:
        self._writer.write(framed(message))
        await self._writer.drain()


if __name__ == "__main__":
    main()
