"""`decisive blackbox`: what was kept of a stack at each wedge of a stored run."""

from pathlib import Path
from typing import Annotated

import typer

from db.reads.wedges import WedgeSpan, wedge_spans
from db.store import Store, open_store_read_only
from db.store_url import DEFAULT_STORE_URL
from runner.cli.console import say, say_json
from runner.cli.opening import find_stored_run
from runner.cli.options import JsonOption, StoreOption
from runner.errors import UsageError
from runner.evidence.number_words import counted_text
from runner.evidence.wording import moment_text
from runner.observe.box_export import export_boxes, span_json


def blackbox(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run such as r-12.")],
    to: Annotated[
        Path | None, typer.Option("--to", metavar="DIR", help="Write the boxes into this folder.")
    ] = None,
    store: StoreOption = DEFAULT_STORE_URL,
    as_json: JsonOption = False,
) -> None:
    """Show the wedges of a run and what was kept of each; with --to, write that into files."""
    with open_store_read_only(store) as opened:
        run_id = find_stored_run(opened, run).id
        with opened.session() as session:
            spans = wedge_spans(session.connection(), run_id)
        folders = _written(opened, run_id, to) if to is not None else []
    if as_json:
        written = [str(folder) for folder in folders]
        say_json({"run": run, "wedges": [span_json(span) for span in spans], "folders": written})
        return
    if not spans:
        say(f"{run} has no wedge")
    for number, span in enumerate(spans, start=1):
        _say_span(number, span)
    for folder in folders:
        say(f"written: {folder}")


def _written(store: Store, run_id: int, folder: Path) -> list[Path]:
    try:
        return export_boxes(store, run_id, folder)
    except OSError as error:
        place = error.filename or folder
        raise UsageError(f"{place} cannot be written: {error.strerror}") from error


def _say_span(number: int, span: WedgeSpan) -> None:
    lasted = "without an end" if span.seconds is None else f"for {span.seconds:.1f} s"
    say(
        f"wedge {number}: {', '.join(span.where)}, from {moment_text(span.started_at_us)} {lasted}"
        f"; {counted_text(len(span.victims), 'request')} waited ({span.confirmed_by})"
    )
    for item in span.box:
        kept = f"{item.size_bytes:,} bytes" if item.raw_id is not None else "nothing"
        name = item.kind.removeprefix("wedge_").replace("_", " ")
        say(f"  {item.service} {name}: {kept} ({' '.join(item.said.split())})")
