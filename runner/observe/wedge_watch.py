"""Carries the wedge rules out: sends canaries, fills the black box, hands spans on to be kept.

What is a wedge the rules say; here is only doing.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx

from runner.observe.black_box import BoxedService, BoxItem, fill_black_box
from runner.observe.canary import CanaryAnswer, ask_canary
from runner.observe.engine_readings import PageReading
from runner.observe.wedge_rules import WedgeTracker
from runner.observe.wedge_spans import (
    Look,
    OpenRequest,
    PageTimes,
    Silence,
    WedgePatience,
    WedgeSpan,
)

# Without a canary a stillness is believed only after a second patience.
_WITHOUT_CANARY = 2
_CANCEL_DEADLINE_S = 5.0
KEEP_DEADLINE_S = 90.0
"""How long the end of a watch waits for a wedge that is being kept: its box, the store, a hook."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientView:
    """What the client knows of its own requests, on the event loop's clock."""

    open_requests: Callable[[], tuple[OpenRequest, ...]]
    progress_s: Callable[[], float | None]
    silences: Callable[[], Iterable[Silence]] = tuple


def no_client() -> ClientView:
    """Of a watch without load."""
    return ClientView(open_requests=lambda: (), progress_s=lambda: None)


@dataclass(frozen=True, slots=True, kw_only=True)
class CanarySetting:
    """Where canaries go. `names_requests`: the server takes the field `rid`."""

    chat_url: str
    model: str
    prefix: str
    names_requests: bool


class WedgeKeeper(Protocol):
    """Where spans are kept. Neither method holds the event loop up."""

    async def opened(
        self, span: WedgeSpan, box: Sequence[BoxItem], *, open_requests: int
    ) -> None: ...

    async def ended(self, span: WedgeSpan) -> None:
        """How it ended is known, or that it had not when the watch was over."""
        ...


OnWedge = Callable[[WedgeSpan], Awaitable[None]]


@dataclass(slots=True, kw_only=True)
class WedgeWatch:
    """`look` after every look at the services, `finish` at the end. `on_wedge`: once for each.

    `canary` None: nothing is sent.
    """

    http: httpx.AsyncClient
    patience: WedgePatience
    canary: CanarySetting | None
    client: ClientView
    services: Sequence[BoxedService]
    redact: Callable[[Any], Any]
    keeper: WedgeKeeper
    on_wedge: OnWedge
    tracker: WedgeTracker = field(init=False)
    canaries: list[CanaryAnswer] = field(default_factory=list)
    canary_ids: set[str] = field(default_factory=set)
    _kept: list[WedgeSpan] = field(default_factory=list)
    _task: asyncio.Task[None] | None = None
    _is_keeping: bool = False
    _is_over: bool = False

    def __post_init__(self) -> None:
        self.tracker = WedgeTracker(self.patience)

    def look(
        self,
        pages: Mapping[str, PageReading | None],
        times: Mapping[str, PageTimes] | None = None,
    ) -> None:
        """Takes a look in; a suspicion sends a canary, one at a time, in the background.

        `times`: of each page, on the loop's clock, where they are before the look. Raises what a
        canary's task raised before: a store that fails.
        """
        self._reap()
        look = self._look(pages, times or {})
        suspicion = self.tracker.look(look)
        if suspicion is None or self._task is not None or self._is_over:
            return
        if self.canary is not None:
            self._task = asyncio.create_task(self._confirm(self.canary), name="canary")
        elif look.at_s - suspicion.started_s >= _WITHOUT_CANARY * self.patience.longest_pause_s:
            self._task = asyncio.create_task(self._believe(), name="wedge")

    def suspect_no_more(self) -> None:
        """From now on the servers may be stopped, by us; how open spans end is still followed."""
        self._is_over = True

    async def finish(self) -> None:
        """Gives up a canary that is under way, and keeps how every span ended.

        A wedge that is being kept at this moment is waited for: it is evidence. Raises what keeping
        one raised.
        """
        if self._task is not None:
            if self._is_keeping:
                await asyncio.wait([self._task], timeout=KEEP_DEADLINE_S)
            self._task.cancel()
            await asyncio.wait([self._task], timeout=_CANCEL_DEADLINE_S)
            task, self._task = self._task, None
            if task.done() and not task.cancelled():
                task.result()
        self.tracker.finish(self.client.silences())
        for span in self._kept:
            await self.keeper.ended(span)

    def facts(self) -> dict[str, Any]:
        """Of the whole watch: spans, seconds, victims, canaries."""
        now_s = asyncio.get_running_loop().time()
        spans = self.tracker.spans
        return {
            "spans": len(spans),
            "seconds": round(sum(span.seconds(now_s) for span in spans), 3),
            "victims": len({victim for span in spans for victim in span.victims}),
            "longest_pause_s": self.patience.longest_pause_s,
            "canaries": [
                {"answered": each.answered, "took_s": round(each.took_s, 3), "said": each.said}
                for each in self.canaries
            ],
        }

    def _look(
        self, pages: Mapping[str, PageReading | None], times: Mapping[str, PageTimes]
    ) -> Look:
        return Look(
            at_s=asyncio.get_running_loop().time(),
            pages=pages,
            times=times,
            open_requests=self.client.open_requests(),
            progress_s=self.client.progress_s(),
        )

    def _reap(self) -> None:
        if self._task is not None and self._task.done():
            task, self._task = self._task, None
            task.result()

    async def _confirm(self, canary: CanarySetting) -> None:
        request_id = f"{canary.prefix}-canary-{len(self.canary_ids)}"
        self.canary_ids.add(request_id)
        sent_s = asyncio.get_running_loop().time()
        self.tracker.canary_sent(sent_s)
        answer = await ask_canary(
            canary.chat_url,
            model=canary.model,
            request_id=request_id,
            http=self.http,
            deadline_s=self.patience.canary_s,
            names_requests=canary.names_requests,
        )
        self.canaries.append(answer)
        if answer.answered:
            span = self.tracker.canary_answered()
        elif answer.reached:
            span = self.tracker.canary_unanswered(answer.said, sent_s=sent_s)
        else:
            self.tracker.canary_not_taken()
            span = None
        if span is not None:
            await self._keep(span)

    async def _believe(self) -> None:
        span = self.tracker.canary_unanswered("nothing moved, and no canary was to be sent")
        if span is not None:
            await self._keep(span)

    async def _keep(self, span: WedgeSpan) -> None:
        self._is_keeping = True
        try:
            await self._fill_and_keep(span)
        finally:
            self._is_keeping = False

    async def _fill_and_keep(self, span: WedgeSpan) -> None:
        open_requests = self.client.open_requests()
        box = await fill_black_box(
            self.services, http=self.http, open_requests=open_requests, redact=self.redact
        )
        await self.keeper.opened(span, box, open_requests=len(open_requests))
        self._kept.append(span)
        await self.on_wedge(span)
