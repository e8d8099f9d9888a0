"""Carries the wedge rules out: sends canaries, fills the black box, keeps the spans.

What is a wedge the rules say; here is only doing.
"""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from db.clock import Clock
from db.raw_bytes import raw_row
from db.store import Store
from db.tables import WedgeRow
from db.wedges import end_wedge, store_wedge
from runner.observe.black_box import BoxedService, BoxItem, fill_black_box
from runner.observe.canary import CanaryAnswer, ask_canary
from runner.observe.engine_readings import PageReading
from runner.observe.wedge_rules import Look, OpenRequest, WedgePatience, WedgeSpan, WedgeTracker

_SESSION = re.compile(r"-s(\d+)-t\d+$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientView:
    """What the client knows of its own requests, on the event loop's clock."""

    open_requests: Callable[[], tuple[OpenRequest, ...]]
    progress_s: Callable[[], float | None]


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


@dataclass(slots=True, kw_only=True)
class FoundWedge:
    """A span with the id of its row and what its black box holds."""

    span: WedgeSpan
    row_id: int
    box: Sequence[BoxItem]


OnWedge = Callable[[FoundWedge], Awaitable[None]]


@dataclass(slots=True, kw_only=True)
class WedgeWatch:
    """`look` after every look at the services, `finish` at the end. `on_wedge`: once for each."""

    run_id: int
    store: Store
    http: httpx.AsyncClient
    clock: Clock
    patience: WedgePatience
    canary: CanarySetting
    client: ClientView
    services: Sequence[BoxedService]
    redact: Callable[[Any], Any]
    on_wedge: OnWedge
    tracker: WedgeTracker = field(init=False)
    found: list[FoundWedge] = field(default_factory=list)
    canaries: list[CanaryAnswer] = field(default_factory=list)
    canary_ids: set[str] = field(default_factory=set)
    _task: asyncio.Task[None] | None = None

    def __post_init__(self) -> None:
        self.tracker = WedgeTracker(self.patience)

    def look(self, pages: Mapping[str, PageReading | None]) -> None:
        """Takes a look in; a suspicion sends a canary, one at a time, in the background.

        Raises what a canary's task raised before: a store that fails.
        """
        self._reap()
        suspicion = self.tracker.look(self._look(pages))
        if suspicion is not None and self._task is None:
            self._task = asyncio.create_task(self._confirm(), name="canary")

    async def finish(self) -> None:
        """Gives up a canary that is under way, and stores how every span ended."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])
            self._task = None
        self.tracker.finish()
        for found in self.found:
            await asyncio.to_thread(self._store_end, found)

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

    def _look(self, pages: Mapping[str, PageReading | None]) -> Look:
        return Look(
            at_s=asyncio.get_running_loop().time(),
            pages=pages,
            open_requests=self.client.open_requests(),
            progress_s=self.client.progress_s(),
        )

    def _reap(self) -> None:
        if self._task is not None and self._task.done():
            task, self._task = self._task, None
            task.result()

    async def _confirm(self) -> None:
        request_id = f"{self.canary.prefix}-canary-{len(self.canary_ids)}"
        self.canary_ids.add(request_id)
        answer = await ask_canary(
            self.canary.chat_url,
            model=self.canary.model,
            request_id=request_id,
            http=self.http,
            deadline_s=self.patience.canary_s,
            names_requests=self.canary.names_requests,
        )
        self.canaries.append(answer)
        if answer.answered:
            span = self.tracker.canary_answered()
        else:
            span = self.tracker.canary_unanswered(answer.said)
        if span is not None:
            await self._keep(span)

    async def _keep(self, span: WedgeSpan) -> None:
        open_requests = self.client.open_requests()
        box = await fill_black_box(
            self.services, http=self.http, open_requests=open_requests, redact=self.redact
        )
        row = WedgeRow(
            run_id=self.run_id,
            service=span.where[0].partition(" ")[0] if span.where else "",
            started_at_us=self._utc_us(span.started_s),
            victims=_victims(span),
            evidence={
                "rule": str(span.rule),
                "where": list(span.where),
                "confirmed_by": span.confirmed_by,
                "confirmed_at_us": self._utc_us(span.confirmed_s),
                "confirmed_after_s": round(span.confirmed_s - span.started_s, 3),
                "open_requests": len(open_requests),
                "black_box": [item.to_json() for item in box],
            },
        )
        row_id = await asyncio.to_thread(self._store, row, box)
        found = FoundWedge(span=span, row_id=row_id, box=box)
        self.found.append(found)
        await self.on_wedge(found)

    def _store(self, row: WedgeRow, box: Sequence[BoxItem]) -> int:
        at_us = int(row.evidence["confirmed_at_us"])
        raws = [
            raw_row(self.run_id, item.kind, item.content, at_us=at_us, service=item.service)
            for item in box
            if item.content
        ]
        with self.store.write() as session:
            session.add_all(raws)
        return store_wedge(self.store, row)

    def _store_end(self, found: FoundWedge) -> None:
        span = found.span
        end_wedge(
            self.store,
            found.row_id,
            ended_at_us=None if span.ended_s is None else self._utc_us(span.ended_s),
            victims=_victims(span),
            evidence={"end": span.end},
        )

    def _utc_us(self, at_s: float) -> int:
        """The event loop's clock in UTC microseconds."""
        ago_s = time.monotonic() - at_s  # what event loops read, and threads can read too
        return self.clock.utc_us() - round(ago_s * 1e6)


def _victims(span: WedgeSpan) -> list[dict[str, Any]]:
    """Each request that made no token in the span, with the index of its session."""
    return [
        {
            "request_id": request_id,
            "session_index": int(named[1]) if (named := _SESSION.search(request_id)) else None,
            "silence_s": round(silence_s, 3),
        }
        for request_id, silence_s in span.victims.items()
    ]
