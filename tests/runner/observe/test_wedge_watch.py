"""The wedge rules carried out: canaries, boxes, and what happens where the watch ends meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from runner.observe.black_box import BoxedService, BoxItem
from runner.observe.engine_readings import PageReading
from runner.observe.wedge_spans import OpenRequest, Silence, WedgePatience, WedgeSpan
from runner.observe.wedge_watch import CanarySetting, ClientView, WedgeWatch
from tests.runner.observe.metric_pages import page, sglang
from tests.runner.sessions.fast_forward import run_in_no_time

PATIENCE = WedgePatience(quiet_s=4, canary_s=4)
STILL: dict[str, PageReading | None] = {"server": page(sglang(2, 100))}

Answer = Callable[[httpx.Request], Awaitable[httpx.Response]]


@dataclass
class Keeper:
    """Remembers what it is given."""

    opened_spans: list[WedgeSpan] = field(default_factory=list)
    ended_spans: list[WedgeSpan] = field(default_factory=list)
    boxes: list[list[str]] = field(default_factory=list)

    async def opened(self, span: WedgeSpan, box: Sequence[BoxItem], *, open_requests: int) -> None:
        self.opened_spans.append(span)
        self.boxes.append([f"{item.kind}: {item.said}" for item in box])

    async def ended(self, span: WedgeSpan) -> None:
        self.ended_spans.append(span)


async def _never(request: httpx.Request) -> httpx.Response:
    await asyncio.sleep(3600)
    raise AssertionError("nobody waits for an hour")


async def _at_once(request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={"choices": []})


def _watch(answer: Answer, keeper: Keeper, *, silences: Sequence[Silence] = ()) -> WedgeWatch:
    async def told(span: WedgeSpan) -> None:
        return

    loop = asyncio.get_running_loop()
    sent_s = loop.time()
    return WedgeWatch(
        http=httpx.AsyncClient(transport=httpx.MockTransport(answer)),
        patience=PATIENCE,
        canary=CanarySetting(
            chat_url="http://server/v1/chat/completions",
            model="m",
            prefix="r1",
            names_requests=True,
        ),
        client=ClientView(
            open_requests=lambda: (
                OpenRequest("r1-s0-t0", loop.time() - sent_s, loop.time() - sent_s),
            ),
            progress_s=lambda: None,
            silences=lambda: silences,
        ),
        services=[BoxedService("server", "http://server", metrics_url="http://server/metrics")],
        redact=lambda report: report,
        keeper=keeper,
        on_wedge=told,
    )


async def _look_for(watch: WedgeWatch, seconds: float) -> None:
    until_s = asyncio.get_running_loop().time() + seconds
    while asyncio.get_running_loop().time() < until_s:
        watch.look(STILL)
        await asyncio.sleep(1)


def _run(scene: Callable[[], Awaitable[Any]]) -> Any:
    async def play() -> Any:
        return await scene()

    return run_in_no_time(play())


def test_a_stillness_whose_canary_is_not_answered_is_kept_with_a_box() -> None:
    keeper = Keeper()

    async def scene() -> None:
        watch = _watch(_never, keeper)
        await _look_for(watch, 20)
        await watch.finish()

    _run(scene)

    (span,) = keeper.opened_spans
    assert span.confirmed_by == "a canary request had no answer within 4 s"
    assert keeper.ended_spans == [span]
    assert "wedge_metrics: no answer within 5 s" in keeper.boxes[0]


async def _refused(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("All connection attempts failed")


def test_a_server_that_takes_no_connection_is_no_wedge() -> None:
    keeper = Keeper()

    async def scene() -> WedgeWatch:
        watch = _watch(_refused, keeper)
        await _look_for(watch, 20)
        await watch.finish()
        return watch

    watch = _run(scene)

    assert keeper.opened_spans == []
    assert {canary.reached for canary in watch.canaries} == {False}


def test_nothing_is_suspected_where_the_servers_are_being_stopped_by_us() -> None:
    keeper = Keeper()

    async def scene() -> WedgeWatch:
        watch = _watch(_never, keeper)
        watch.suspect_no_more()
        await _look_for(watch, 20)
        await watch.finish()
        return watch

    watch = _run(scene)

    assert keeper.opened_spans == [] and watch.canaries == []


def test_an_answered_canary_clears_it() -> None:
    keeper = Keeper()

    async def scene() -> WedgeWatch:
        watch = _watch(_at_once, keeper)
        await _look_for(watch, 7)
        await watch.finish()
        return watch

    watch = _run(scene)

    assert keeper.opened_spans == []
    assert [canary.answered for canary in watch.canaries] == [True]


def test_a_wedge_whose_box_is_being_filled_when_the_watch_ends_is_kept_all_the_same() -> None:
    keeper = Keeper()

    async def scene() -> WedgeWatch:
        watch = _watch(_never, keeper)
        while not watch.tracker.spans:
            await _look_for(watch, 1)
        assert keeper.opened_spans == []
        await watch.finish()
        return watch

    watch = _run(scene)

    assert keeper.opened_spans == keeper.ended_spans == watch.tracker.spans


def test_a_canary_that_is_under_way_when_the_watch_ends_is_given_up() -> None:
    keeper = Keeper()

    async def scene() -> float:
        watch = _watch(_never, keeper)
        await _look_for(watch, 6)
        began_s = asyncio.get_running_loop().time()
        await watch.finish()
        return asyncio.get_running_loop().time() - began_s

    assert _run(scene) < 1
    assert keeper.opened_spans == []


def test_victims_that_no_look_met_are_named_when_the_watch_ends() -> None:
    keeper = Keeper()

    async def scene() -> None:
        now_s = asyncio.get_running_loop().time()
        missed = Silence("r1-s9-t1", now_s, now_s + 15)
        watch = _watch(_never, keeper, silences=[missed])
        await _look_for(watch, 20)
        await watch.finish()

    _run(scene)

    assert set(keeper.ended_spans[0].victims) == {"r1-s0-t0", "r1-s9-t1"}
