"""A router in this process, a prefill and a decode server as children of it.

If one of the children ends, all end: a stack of which a part is missing is no stack.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import uvicorn

from runner.testbed import log_lines
from runner.testbed.http_serving import BACKLOG, http_config
from runner.testbed.launch_options import LaunchOptions
from runner.testbed.relay import Worker
from runner.testbed.router import running_router

_STOP_GRACE_S = 4.0
_START_DEADLINE_S = 300.0


@dataclass(frozen=True, slots=True)
class Child:
    """One server process, its role and the address that it has announced."""

    role: str
    process: asyncio.subprocess.Process
    url: str


async def serve_split(
    argv: Sequence[str],
    options: LaunchOptions,
    listener: socket.socket,
    log: logging.Logger,
    *,
    on_ready: Callable[[], None],
) -> int:
    """Returns 0 when stopped as asked, 1 when a child ended by itself, 2 if one did not start."""
    async with AsyncExitStack() as running:
        prefill, decode = await asyncio.gather(
            running.enter_async_context(_child("prefill", argv, options, options.prefill_port)),
            running.enter_async_context(_child("decode", argv, options, options.decode_port)),
        )
        for child in (prefill, decode):
            if not child.url:
                log.info("The %s server did not start.", child.role)
                return 2
        workers = (Worker("prefill", prefill.url), Worker("decode", decode.url))
        app = await running.enter_async_context(running_router(workers, options.served_model_name))
        server = uvicorn.Server(http_config(app, access_log=options.access_log))
        listener.listen(BACKLOG)
        log.info(log_lines.ready())
        on_ready()
        return await _serve_while_all_live(server, listener, (prefill, decode), log)


async def _serve_while_all_live(
    server: uvicorn.Server,
    listener: socket.socket,
    children: Sequence[Child],
    log: logging.Logger,
) -> int:
    ended: list[Child] = []

    async def watch(child: Child) -> None:
        status = await child.process.wait()
        if not server.should_exit:
            ended.append(child)
            log.info(log_lines.subprocess_crashed(child.role, child.process.pid, status))
            server.should_exit = True

    # uvicorn raises the signal that ended it once more; the children are still to be ended then.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: None)
    watches = [asyncio.create_task(watch(child)) for child in children]
    await server.serve(sockets=[listener])
    for task in watches:
        task.cancel()
    return 1 if ended else 0


@asynccontextmanager
async def _child(
    role: str, argv: Sequence[str], options: LaunchOptions, port: int
) -> AsyncIterator[Child]:
    """The same switches, for one side alone. It ends with us: its standard input closes then."""
    own = ["--disaggregation-mode", role, "--port", str(port), "--end-with-stdin"]
    with _log_file(options.log_folder, role) as log_file:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "runner.testbed", "serve", *argv, *own),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log_file,
        )
    try:
        yield Child(role, process, await _announced_url(process))
    finally:
        await _end(process)


def _log_file(folder: str | None, role: str) -> AbstractContextManager[IO[bytes] | None]:
    """None: the same standard error as ours."""
    if folder is None:
        return contextlib.nullcontext()
    Path(folder).mkdir(parents=True, exist_ok=True)
    return (Path(folder) / f"{role}.log").open("ab")


async def _announced_url(process: asyncio.subprocess.Process) -> str:
    """Empty when the process ended before it listened, or did not listen in time."""
    assert process.stdout is not None
    try:
        line = (await asyncio.wait_for(process.stdout.readline(), _START_DEADLINE_S)).decode()
    except TimeoutError:
        return ""
    return line.rsplit(" ", 1)[-1].strip()


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _STOP_GRACE_S)
    except TimeoutError:
        process.kill()
        with contextlib.suppress(TimeoutError):  # one that waits in the kernel heeds nothing
            await asyncio.wait_for(process.wait(), _STOP_GRACE_S)
