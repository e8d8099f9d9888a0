"""What a watch without load says of a stack: wedges and their ends, pages, lines of logs."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from db.clock import SystemClock
from db.process_liveness import is_process_alive
from runner.campaign.stack_file import load_stack
from runner.execute.stack_watch import StackWatch, WatchSetting
from tests.runner.observe.catalogue import CATALOGUE

PATIENCE_S = 60.0
STACK = """
stack: s
description: A server that runs already.
model: m
services:
  server:
    controller: external
    base_url: http://server
{log}
{metrics}
"""
FOLLOWED_BY_A_COMMAND = """
    log: command
    log_command: [sh, -c, "echo $$; exec sleep 600"]
"""
ABORTED = (
    "[2026-06-01 10:00:00] Prefill bootstrap failed for request rank=0 req.rid='{}' "
    "req.bootstrap_room=4 with exception KVTransferError(bootstrap_room=4): Aborted by AbortReq.\n"
)
ENGINE_BEHIND = """
  engine:
    controller: external
    base_url: http://server
    metrics: {dialect: sglang}
"""
METRICS = "    metrics: {dialect: sglang}"


class WatchedServer:
    """A server without a socket; `page` is what its metrics answer, `answers` whether it chats."""

    def __init__(self, folder: Path) -> None:
        self.page = httpx.Response(200, text=running(0, 7))
        self.answers = True
        self.canaries: list[str] = []
        self.log = folder / "server.log"
        self.log.touch()
        self._heard: asyncio.Queue[str] = asyncio.Queue()

    async def answer(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/metrics":
            return httpx.Response(self.page.status_code, content=self.page.content)
        if request.url.path != "/v1/chat/completions":
            return httpx.Response(404)
        self.canaries.append(json.loads(request.content)["rid"])
        if not self.answers:
            await asyncio.Event().wait()
        return httpx.Response(200, json={})

    def say(self, text: str) -> None:
        self._heard.put_nowait(text)

    async def told(self, words: str) -> list[str]:
        """All that is said up to the first line with these words."""
        lines: list[str] = []
        async with asyncio.timeout(PATIENCE_S):
            while not lines or words not in lines[-1]:
                lines.append(await self._heard.get())
        return lines


def running(requests: int, tokens: int) -> str:
    return f"sglang:num_running_reqs {requests}\nsglang:generation_tokens_total {tokens}\n"


@pytest.fixture
def server(tmp_path: Path) -> WatchedServer:
    return WatchedServer(tmp_path)


@asynccontextmanager
async def watched(
    server: WatchedServer,
    folder: Path,
    *,
    metrics: str = METRICS,
    log: str | None = None,
    notify: str = "[]",
) -> AsyncIterator[asyncio.Task[None]]:
    path = folder / "s.yaml"
    log = log or f"    log: file\n    log_file: {server.log}"
    path.write_text(STACK.format(log=log, metrics=metrics) + f"\nnotify: {notify}\n", "utf-8")
    setting = WatchSetting(
        stack=load_stack(path),
        addresses={},
        catalogue=CATALOGUE,
        folder=folder / "boxes",
        sends_canaries=True,
        longest_pause_s=0.2,
        period_s=0.01,
        summary_every_s=0.05,
    )
    transport = httpx.MockTransport(server.answer)
    async with httpx.AsyncClient(transport=transport) as http:
        watch = StackWatch(setting=setting, http=http, clock=SystemClock(), say=server.say)
        stop = asyncio.Event()
        task = asyncio.create_task(watch.watch(stop))
        try:
            yield task
        finally:
            stop.set()
            with contextlib.suppress(asyncio.CancelledError):
                await task


async def test_the_end_of_a_wedge_is_told_and_kept_while_the_watch_goes_on(
    server: WatchedServer, tmp_path: Path
) -> None:
    server.answers, server.page = False, httpx.Response(200, text=running(2, 7))
    async with watched(server, tmp_path):
        await server.told("WEDGE in server for ")
        server.page = httpx.Response(200, text=running(2, 8))
        said = await server.told("the wedge in server lasted")

        (end,) = (tmp_path / "boxes").glob("*/end.json")
        assert json.loads(end.read_text("utf-8"))["end"] == "tokens were made again"
        assert said[-1].endswith(": tokens were made again")
        assert not any("busy" in line for line in said)


async def test_a_wedge_that_outlasts_the_watch_is_told_to_be_open(
    server: WatchedServer, tmp_path: Path
) -> None:
    server.answers, server.page = False, httpx.Response(200, text=running(2, 7))
    async with watched(server, tmp_path):
        await server.told("WEDGE in server")

    assert (await server.told("has lasted"))[-1].endswith("still open when the watch ended")


async def test_what_a_server_logs_of_our_own_canary_is_no_news(
    server: WatchedServer, tmp_path: Path
) -> None:
    server.answers, server.page = False, httpx.Response(200, text=running(2, 7))
    async with watched(server, tmp_path):
        await server.told("WEDGE")
        with server.log.open("a", encoding="utf-8") as log:
            log.writelines(ABORTED.format(rid) for rid in (server.canaries[0], "somebody-else"))
        said = await server.told("somebody-else")

    assert [line for line in said if "canary-0" in line] == []
    assert said[-1].startswith("log of server, abort: server_abort: ")


async def test_a_canary_through_a_router_has_a_name_that_the_engine_logs(
    server: WatchedServer, tmp_path: Path
) -> None:
    server.answers, server.page = False, httpx.Response(200, text=running(2, 7))
    async with watched(server, tmp_path, metrics=ENGINE_BEHIND):
        await server.told("WEDGE in engine")

    assert server.canaries == ["watch-canary-0"]


@pytest.mark.parametrize(
    ("page", "why"),
    [
        (httpx.Response(404), "status 404"),
        (httpx.Response(302), "status 302"),
        (
            httpx.Response(200, text="<html>Log in</html>\n"),
            "this is no page of metrics: '<html>Log in",
        ),
    ],
    ids=["404", "a redirect", "HTML"],
)
async def test_why_a_page_cannot_be_read_is_told_once_and_then_what_it_says_again(
    page: httpx.Response, why: str, server: WatchedServer, tmp_path: Path
) -> None:
    async with watched(server, tmp_path):
        await server.told("server: idle")
        server.page = page
        said = await server.told("unavailable")
        assert f"its metrics cannot be read: {why}" in said[-1]
        server.page = httpx.Response(200, text=running(3, 7))

        assert (await server.told("server: "))[-1].startswith("server: busy running=3")


async def test_a_service_without_metrics_is_not_called_unavailable(
    server: WatchedServer, tmp_path: Path
) -> None:
    async with watched(server, tmp_path, metrics=""):
        said = await server.told("server: ")

    assert said == ["server: no metrics are read of it, so that no wedge of it can be seen"]


async def test_a_watch_that_is_cut_off_while_it_keeps_a_wedge_leaves_nobody_who_follows_a_log(
    server: WatchedServer, tmp_path: Path
) -> None:
    server.answers, server.page = False, httpx.Response(200, text=running(2, 7))
    async with watched(
        server, tmp_path, log=FOLLOWED_BY_A_COMMAND, notify="[sleep, '600']"
    ) as watching:
        await server.told("WEDGE")
        watching.cancel()
        for _ in range(100):  # it waits for the hook now
            await asyncio.sleep(0)
        watching.cancel()

    (tail,) = (tmp_path / "boxes").glob("*/server-log_tail")
    assert not is_process_alive(int(tail.read_text("ascii")))
