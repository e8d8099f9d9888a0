"""Writes the black boxes of a stored run into files: a folder for each wedge. It judges nothing."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from db.identifiers import IdKind, format_id
from db.reads.observations import raw_bytes
from db.reads.wedges import WedgeSpan, wedge_spans
from db.store import Store
from runner.errors import UsageError
from runner.observe.wedge_keeping import box_file_name


def export_boxes(store: Store, run_id: int, folder: Path) -> list[Path]:
    """The folders, in the order of the wedges; each has `wedge.json` and what was kept.

    Raises UsageError where a folder is there already, before anything is written.
    """
    with store.session() as session:
        connection = session.connection()
        spans = wedge_spans(connection, run_id)
        folders = [
            folder / f"{format_id(IdKind.RUN, run_id)}-wedge-{number}"
            for number in range(1, len(spans) + 1)
        ]
        taken = next((each for each in folders if each.exists()), None)
        if taken is not None:
            raise UsageError(f"{taken} is there already; name another folder with --to")
        for span, into in zip(spans, folders, strict=True):
            into.mkdir(parents=True)
            for item in span.box:
                content = None if item.raw_id is None else raw_bytes(connection, item.raw_id)
                if content is not None:
                    (into / box_file_name(item.service, item.kind)).write_bytes(content)
            (into / "wedge.json").write_text(json.dumps(span_json(span), indent=1), "utf-8")
    return folders


def span_json(span: WedgeSpan) -> dict[str, Any]:
    """A span and its victims; of each thing in its box the file, or why there is none."""
    told = asdict(span)
    told["box"] = [
        {
            "kind": item.kind,
            "service": item.service,
            "said": item.said,
            "size_bytes": item.size_bytes,
            "is_capped": item.is_capped,
            "file": None if item.raw_id is None else box_file_name(item.service, item.kind),
        }
        for item in span.box
    ]
    return told
