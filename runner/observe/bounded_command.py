"""Runs a command that may hang, fail or print for ever, and says in a few words how it ended."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

_STDIN = 0
_GRACE_S = 0.5
_REAP_S = 2.0


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """`trouble` is None where it ended with 0. `output` is at most the limit, `is_cut` if more."""

    output: bytes
    trouble: str | None
    is_cut: bool = False


async def run_bounded(
    argv: Sequence[str],
    *,
    deadline_s: float,
    cap_bytes: int,
    told: bytes = b"",
    env: Mapping[str, str] | None = None,
) -> CommandEnd:
    """What it wrote on standard output and error, with `told` on its standard input.

    It is killed with everything it has started, at the deadline, at the limit, and where the
    caller is cancelled.
    """
    name = Path(argv[0]).name
    listener = _Listener(cap_bytes)
    try:
        transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: listener,
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=None if env is None else {**os.environ, **env},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        return CommandEnd(b"", f"cannot start {name}: {why}")
    try:
        _tell(transport, told)
        await _until_over(listener, deadline_s)
        listener.was_killed = not listener.exited.is_set()
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(transport.get_pid(), signal.SIGKILL)
        # One that waits in the kernel for a device does not heed even that.
        await _is_set_within(listener.exited, listener.exited, _REAP_S)
        transport.close()
    return listener.end(name, transport.get_returncode(), deadline_s)


class _Listener(asyncio.SubprocessProtocol):
    """`over`: nothing more is to be waited for. `exited`: the command itself has ended.

    `was_killed`: it had to be.
    """

    def __init__(self, cap_bytes: int) -> None:
        self._cap_bytes = cap_bytes
        self._written = bytearray()
        self.over = asyncio.Event()
        self.exited = asyncio.Event()
        self.was_killed = False

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._written += data[: max(0, self._cap_bytes + 1 - len(self._written))]
        if len(self._written) > self._cap_bytes:
            self.over.set()

    def process_exited(self) -> None:
        self.exited.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.over.set()

    def end(self, name: str, status: int | None, deadline_s: float) -> CommandEnd:
        output = bytes(self._written[: self._cap_bytes])
        if len(self._written) > self._cap_bytes:
            return CommandEnd(output, None, is_cut=True)
        if self.was_killed:
            return CommandEnd(output, f"{name} had not ended after {deadline_s:g} s")
        return CommandEnd(output, _trouble(name, status, output))


def _tell(transport: asyncio.SubprocessTransport, told: bytes) -> None:
    stdin = cast("asyncio.WriteTransport | None", transport.get_pipe_transport(_STDIN))
    if stdin is not None:
        stdin.write(told)
        stdin.write_eof()


async def _until_over(listener: _Listener, deadline_s: float) -> None:
    """A child that it left behind may hold its output open: that is not waited for."""
    if not await _is_set_within(listener.over, listener.exited, deadline_s):
        return
    if not listener.over.is_set():
        await _is_set_within(listener.over, listener.over, _GRACE_S)


async def _is_set_within(one: asyncio.Event, other: asyncio.Event, seconds: float) -> bool:
    waits: list[asyncio.Task[Any]] = [asyncio.create_task(each.wait()) for each in (one, other)]
    try:
        done, _ = await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return bool(done)
    finally:
        for wait in waits:
            wait.cancel()


def _trouble(name: str, status: int | None, output: bytes) -> str | None:
    if status == 0:
        return None
    lines = output.decode("utf-8", errors="replace").strip().splitlines()
    said = f": {lines[-1].strip()[:200]}" if lines else ""
    return f"{name} ended with {status}{said}"
