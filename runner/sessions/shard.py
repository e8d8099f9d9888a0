"""A drive's side of one process that plays sessions: starts it, asks it, and knows when it is lost.

It decides nothing about which session goes where, and stores nothing.
"""

import asyncio
import contextlib
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Final

import msgspec

from runner.control.parent_death import ending_with_parent
from runner.errors import ClientProcessLostError, ConfigError
from runner.event_loop import end_task
from runner.sessions.client_health import ClientHealth
from runner.sessions.client_setting import ClientSetting
from runner.sessions.played_session import PlayedSession
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
    ToShard,
    framed,
    next_from_shard,
)

START_DEADLINE_S: Final = 120.0
FAREWELL_DEADLINE_S: Final = 10.0
SILENCE_S: Final = 10.0
SILENCES: Final = 3
"""It speaks every second. Waits are counted rather than one long one measured: after a stop of the
whole machine each of them begins anew, and the process has time to speak."""

_NOTHING_YET: Final = Status(sent=0, quiet_s=None, open_requests=())


class Shard:
    """`name` is what people call it. `status` is what it said last, at `heard_at_s` of the loop's
    clock. `lost` says in one sentence why it plays no more; None while it does.
    """

    def __init__(
        self, name: str, *, silence_s: float = SILENCE_S, on_lost: Callable[[str], None]
    ) -> None:
        self.name = name
        self.status = _NOTHING_YET
        self.heard_at_s = 0.0
        self.lost: str | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self._can_play = False
        self._silence_s = silence_s
        self._on_lost = on_lost
        self._playing: dict[int, asyncio.Future[PlayedSession]] = {}
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._farewell: asyncio.Future[ClientHealth | None] = (
            asyncio.get_running_loop().create_future()
        )
        self._listening: asyncio.Task[None] | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def start(self, setting: ClientSetting) -> None:
        """Returns when it can play.

        Raises:
            ConfigError: the setting cannot be played with.
            ClientProcessLostError: it ended, or was not ready within two minutes.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            self.process = _started(theirs)
        reader, self._writer = await asyncio.open_connection(sock=ours)
        self._listening = asyncio.create_task(self._listen(reader), name=self.name)
        self._say(Begin(pickle.dumps(setting, pickle.HIGHEST_PROTOCOL)))
        try:
            async with asyncio.timeout(START_DEADLINE_S):
                await self._ready
        except TimeoutError:
            why = f"{self.name} was not ready within {START_DEADLINE_S:g} s"
            raise ClientProcessLostError(why) from None

    async def play(self, session_index: int) -> PlayedSession:
        """Cancelled, the session is dropped there too. Raises ClientProcessLostError."""
        if self.lost is not None:
            raise ClientProcessLostError(self.lost)
        played: asyncio.Future[PlayedSession] = asyncio.get_running_loop().create_future()
        self._playing[session_index] = played
        self._say(Play(session_index))
        try:
            return await played
        except asyncio.CancelledError:
            self._say(Cancel(session_index))
            raise
        finally:
            del self._playing[session_index]

    async def finish(self) -> ClientHealth | None:
        """Ends it, in any case and in bounded time; its health, None where it could not say."""
        health: ClientHealth | None = None
        if self.lost is None and self._can_play:
            self._say(Finish())
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FAREWELL_DEADLINE_S):
                    health = await asyncio.shield(self._farewell)
        if self._listening is not None:
            await end_task(self._listening)
        if self._writer is not None:
            self._writer.close()  # its process ends when nobody is there to tell it anything
        await asyncio.to_thread(self._reap)
        return health

    def kill(self) -> None:
        """At once, from any thread."""
        if self.process is not None:
            self.process.kill()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        try:
            while (message := await self._next(reader)) is not None:
                self._hear(message)
                if isinstance(message, Farewell | Refused):
                    return
            await self._lose(None)
        except _SilentError:
            await self._lose(f"{self.name} said nothing for {SILENCES * self._silence_s:g} s")
        except (msgspec.MsgspecError, pickle.UnpicklingError) as error:
            await self._lose(f"{self.name} said what cannot be understood: {error}")

    async def _next(self, reader: asyncio.StreamReader) -> FromShard | None:
        """Raises _SilentError."""
        if not self._can_play:  # `start` has a deadline of its own
            return await next_from_shard(reader)
        reading = asyncio.ensure_future(next_from_shard(reader))
        try:
            for _ in range(SILENCES):
                await asyncio.wait([reading], timeout=self._silence_s)
                if reading.done():
                    return reading.result()
        finally:
            reading.cancel()
        raise _SilentError

    def _hear(self, message: FromShard) -> None:
        match message:
            case Ready():
                self._can_play = True
                if not self._ready.done():
                    self._ready.set_result(None)
            case Refused(sentence):
                if not self._ready.done():
                    self._ready.set_exception(ConfigError(sentence))
            case Played(index, session):
                played = self._playing.get(index)
                if played is not None and not played.done():  # else it was cancelled meanwhile
                    played.set_result(pickle.loads(session))  # of our own child
            case Status():
                self._note(message)
            case Farewell(status, health):
                self._note(status)
                self._farewell.set_result(health)

    def _note(self, status: Status) -> None:
        self.status = status
        self.heard_at_s = asyncio.get_running_loop().time()

    async def _lose(self, sentence: str | None) -> None:
        """What it was playing has no other end. Without a sentence its process knows how it ended.

        It is killed in any case: what does not speak must not go on sending.
        """
        if sentence is not None:
            self.kill()
        status = await asyncio.to_thread(self._reap)
        self.lost = sentence or f"{self.name} {_end_in_words(status)}"
        self.status = Status(sent=self.status.sent, quiet_s=None, open_requests=())
        if not self._ready.done():
            self._ready.set_exception(ClientProcessLostError(self.lost))
        elif self._can_play:
            self._on_lost(self.lost)
        if not self._farewell.done():
            self._farewell.set_result(None)
        for played in self._playing.values():
            if not played.done():
                played.set_exception(ClientProcessLostError(self.lost))

    def _reap(self) -> int | None:
        """In a thread: its exit status, once it has ended; it is killed where it does not."""
        process = self.process
        if process is None:
            return None
        for _ in range(2):
            try:
                return process.wait(timeout=FAREWELL_DEADLINE_S)
            except subprocess.TimeoutExpired:
                process.kill()
        return None

    def _say(self, message: ToShard) -> None:
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(framed(message))


class _SilentError(Exception):
    """Nothing was heard for as long as may be."""


def _started(connection: socket.socket) -> subprocess.Popen[bytes]:
    """In a process group of its own: a Ctrl-C of the terminal reaches us alone."""
    is_main_thread = threading.current_thread() is threading.main_thread()
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "runner.sessions.shard_process", str(connection.fileno())],
        pass_fds=(connection.fileno(),),
        stdin=subprocess.DEVNULL,
        process_group=0,
        # Our death ends it anyway, by the end of its socket; this, also where it is stopped.
        preexec_fn=ending_with_parent(signal.SIGKILL) if is_main_thread else None,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)},
    )


def _end_in_words(status: int | None) -> str:
    if status is None:
        return "cannot be ended"
    if status < 0:
        return f"was killed by {signal.Signals(-status).name}"
    return f"ended with status {status}"
