"""`python -m runner.testbed router ...`: the router alone, before servers that others started.

Exit codes as of `serve`.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import socket
import sys
from collections.abc import Sequence

import aiohttp
import uvicorn

from runner.testbed import log_lines
from runner.testbed.http_serving import BACKLOG, http_config
from runner.testbed.listening_socket import bind, port_number
from runner.testbed.log_output import configure_log
from runner.testbed.relay import Worker
from runner.testbed.router import running_router

_POLL_S = 0.2


def main(argv: Sequence[str]) -> int:
    """Routes until stopped. Raises SystemExit(2) when a switch does not fit."""
    chosen = _parser().parse_args(argv)
    workers = (Worker("prefill", chosen.prefill), Worker("decode", chosen.decode))
    try:
        with bind(chosen.host, chosen.port) as listener:
            return asyncio.run(_route(workers, listener, chosen.access_log))
    except OSError as error:
        sys.stderr.write(f"Cannot listen on {error.strerror}.\n")
        return 2
    except (KeyboardInterrupt, asyncio.CancelledError):
        return 130


async def _route(workers: tuple[Worker, Worker], listener: socket.socket, access_log: bool) -> int:
    log = configure_log(access_log=access_log)
    task = asyncio.current_task()
    assert task is not None
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    model = await _model_of(workers[1])
    await _model_of(workers[0])
    loop.remove_signal_handler(signal.SIGTERM)
    async with running_router(workers, model) as app:
        server = uvicorn.Server(http_config(app, access_log=access_log))
        listener.listen(BACKLOG)
        log.info(log_lines.ready())
        await server.serve(sockets=[listener])
    return 0


async def _model_of(worker: Worker) -> str:
    """Waits for the worker, however long it takes to come up."""
    async with aiohttp.ClientSession() as session:
        while True:
            with contextlib.suppress(aiohttp.ClientError):
                async with session.get(f"{worker.url}/server_info") as answer:
                    if answer.status == 200:
                        return str((await answer.json())["served_model_name"])
            await asyncio.sleep(_POLL_S)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m runner.testbed router",
        description="The router of a split testbed whose servers are started apart from it.",
    )
    parser.add_argument("--prefill", required=True, metavar="URL", help="of the prefill server")
    parser.add_argument("--decode", required=True, metavar="URL", help="of the decode server")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=port_number, default=0, help="0 picks a free port")
    parser.add_argument("--access-log", action=argparse.BooleanOptionalAction, default=True)
    return parser
