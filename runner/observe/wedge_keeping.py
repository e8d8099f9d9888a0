"""Keeps wedges and their black boxes: as rows of a run, or as files in a folder."""

import asyncio
import contextlib
import json
import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from db.clock import Clock
from db.raw_bytes import raw_row
from db.store import Store
from db.tables.observations import WedgeRow
from db.wedges import end_wedge, store_wedge
from runner.observe.black_box import BoxItem
from runner.observe.request_ids import session_index_of
from runner.observe.wedge_spans import WedgeSpan

_UNSAFE = re.compile(r"[^\w.-]+")


class StoredWedges:
    """As rows of one run."""

    def __init__(self, store: Store, run_id: int) -> None:
        self._store = store
        self._run_id = run_id
        self._row_ids: dict[int, int] = {}

    async def opened(self, span: WedgeSpan, box: Sequence[BoxItem], *, open_requests: int) -> None:
        clock = self._store.clock
        row = WedgeRow(
            run_id=self._run_id,
            service=span.where[0].partition(" ")[0] if span.where else "",
            started_at_us=utc_us(span.started_s, clock),
            victims=victims_of(span),
            evidence=evidence_of(span, box, open_requests=open_requests, clock=clock),
        )
        self._row_ids[id(span)] = await asyncio.to_thread(self._keep, row, box)

    async def ended(self, span: WedgeSpan) -> None:
        ended_at_us = None if span.ended_s is None else utc_us(span.ended_s, self._store.clock)
        await asyncio.to_thread(
            end_wedge,
            self._store,
            self._row_ids[id(span)],
            ended_at_us=ended_at_us,
            victims=victims_of(span),
            evidence={"end": span.end},
        )

    def _keep(self, row: WedgeRow, box: Sequence[BoxItem]) -> int:
        at_us = int(row.evidence["confirmed_at_us"])
        raws = [
            raw_row(self._run_id, item.kind, item.content, at_us=at_us, service=item.service)
            for item in box
            if item.content
        ]
        with self._store.write() as session:
            session.add_all(raws)
        return store_wedge(self._store, row)


class WedgeFolder:
    """As a folder for each wedge, named by its time. `trouble`: why the last could not be written.

    A disk that is full or a folder that is not ours ends no watch.
    """

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.trouble: str | None = None
        self._folder = folder
        self._clock = clock
        self._folders: dict[int, Path] = {}

    async def opened(self, span: WedgeSpan, box: Sequence[BoxItem], *, open_requests: int) -> None:
        confirmed_us = utc_us(span.confirmed_s, self._clock)
        name = datetime.fromtimestamp(confirmed_us / 1e6, tz=UTC).strftime("wedge-%Y%m%dT%H%M%SZ")
        evidence = evidence_of(span, box, open_requests=open_requests, clock=self._clock)
        folder = self._folder / name
        try:
            await asyncio.to_thread(_write_box, folder, evidence, box)
        except OSError as error:
            self.trouble = f"{error.filename or folder} cannot be written: {error.strerror}"
        else:
            self._folders[id(span)] = folder

    async def ended(self, span: WedgeSpan) -> None:
        told = {"end": span.end, "seconds": round(span.seconds(time.monotonic()), 3)}
        folder = self._folders.get(id(span))
        if folder is None:
            return
        with contextlib.suppress(OSError):
            path = folder / "end.json"
            await asyncio.to_thread(path.write_text, json.dumps(told, indent=1), "utf-8")

    def folder_of(self, span: WedgeSpan) -> Path | None:
        return self._folders.get(id(span))


def evidence_of(
    span: WedgeSpan, box: Sequence[BoxItem], *, open_requests: int, clock: Clock
) -> dict[str, Any]:
    return {
        "rule": str(span.rule),
        "where": list(span.where),
        "confirmed_by": span.confirmed_by,
        "confirmed_at_us": utc_us(span.confirmed_s, clock),
        "confirmed_after_s": round(span.confirmed_s - span.started_s, 3),
        "open_requests": open_requests,
        "black_box": [item.to_json() for item in box],
    }


def victims_of(span: WedgeSpan) -> list[dict[str, Any]]:
    """Each request that made no token in the span, with the index of its session."""
    return [
        {
            "request_id": request_id,
            "session_index": session_index_of(request_id),
            "silence_s": round(silence_s, 3),
        }
        for request_id, silence_s in span.victims.items()
    ]


def utc_us(at_s: float, clock: Clock) -> int:
    """A moment of the event loop's clock in UTC microseconds."""
    ago_s = time.monotonic() - at_s  # what event loops read, and threads can read too
    return clock.utc_us() - round(ago_s * 1e6)


def box_file_name(service: str, kind: str) -> str:
    """Of one thing in a black box: `decode-metrics`."""
    return _UNSAFE.sub("_", f"{service}-{kind.removeprefix('wedge_')}")


def _write_box(folder: Path, evidence: dict[str, Any], box: Sequence[BoxItem]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "wedge.json").write_text(json.dumps(evidence, indent=1), "utf-8")
    for item in box:
        if item.content:
            (folder / box_file_name(item.service, item.kind)).write_bytes(item.content)
