"""The bundle holds what a report rests on, in the same bytes, and says what it does not hold."""

import io
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

from db.raw_bytes import raw_row
from db.reads.campaigns import campaign
from db.store import Store
from db.tables.observations import LogEventRow
from db.vocabulary import RawKind
from runner.report.bundle import bundle_contents, write_bundle
from runner.report.redaction import Redacted
from runner.report.stored_report import (
    ReportScope,
    redactor_for,
    scope_of_session,
    stored_report,
)
from tests.app.scenes import Scene, decisive_test
from tests.db.factories import stored_id
from tests.db.fresh_stores import SECOND_US, START_US, fresh_store

KEY = b"Authorization: Bearer sk-live-0123456789abcdef\n"


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Scene]]:
    folder: Path = tmp_path_factory.mktemp("bundle")
    with fresh_store(folder) as store:
        made = decisive_test(store)
        _keep(store, made.leaked.run_id if made.leaked is not None else 0)
        yield store, made


def _keep(store: Store, run_id: int) -> None:
    """Pieces of a log that are cut inside a line, and what was kept at a wedge."""
    log = (b"first li", b"ne\n", KEY, b"\xff\xfe no text\n")
    kept = {RawKind.WEDGE_STACKS: b"stack", RawKind.WEDGE_IN_FLIGHT: b"a prompt"}
    with store.write() as session:
        for number, piece in enumerate(log):
            session.add(
                raw_row(
                    run_id,
                    RawKind.SERVICE_LOG,
                    piece,
                    at_us=START_US + number,
                    service="decode/0",
                )
            )
        for kind, data in kept.items():
            session.add(raw_row(run_id, kind, data, at_us=START_US, service="decode/0"))
        for number in range(200):  # some of them while the leaked session was played
            session.add(
                LogEventRow(
                    run_id=run_id,
                    service="decode/0",
                    at_us=START_US + 5 * number * SECOND_US,
                    kind="request_error",
                    event_class="error",
                    line="bad request: 'a prompt that was logged'",
                )
            )


def _bundle(
    store: Store, scope: ReportScope, *taken_out: Redacted, transcripts: int = 3
) -> ZipFile:
    redactor = redactor_for(store, scope, {Redacted.KEYS, *taken_out})
    document = stored_report(store, scope, redactor=redactor)
    contents = bundle_contents(store, scope, document, redactor=redactor, transcripts=transcripts)
    file = io.BytesIO()
    write_bundle(file, contents, title=document.title)
    return ZipFile(file)


def _whole(store: Store) -> ReportScope:
    with store.session() as session:
        facts = campaign(session.connection(), 1)
    assert facts is not None
    return ReportScope(facts)


def test_the_same_record_gives_the_same_bytes(scene: tuple[Store, Scene]) -> None:
    store, _ = scene

    first, second = (_bundle(store, _whole(store), transcripts=1) for _ in range(2))

    assert first.fp is not None and second.fp is not None
    assert first.fp.seek(0) == second.fp.seek(0)
    assert first.fp.read() == second.fp.read()
    assert {entry.date_time for entry in first.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_the_manifest_lists_every_file_and_what_is_not_there(scene: tuple[Store, Scene]) -> None:
    store, _ = scene

    archive = _bundle(store, _whole(store))

    manifest = json.loads(archive.read("manifest.json"))
    listed = {each["name"]: each["sha256"] for each in manifest["files"]}
    names = [name for name in archive.namelist() if name != "manifest.json"]
    assert list(listed) == names
    assert all(sha256(archive.read(name)).hexdigest() == listed[name] for name in names)
    assert "failing sessions have their transcript here" in manifest["left_out"][0]
    folders = {name.split("/")[0] for name in names if "/" in name}
    assert folders == {"tables", "fingerprints", "transcripts", "logs", "black_boxes"}
    assert {"report.md", "report.html", "campaign.yaml"} <= set(names)


def test_logs_are_whole_and_keys_are_taken_out_of_them(scene: tuple[Store, Scene]) -> None:
    store, made = scene
    assert made.leaked is not None

    archive = _bundle(store, _whole(store), transcripts=0)

    log = archive.read(f"logs/r-{made.leaked.run_id}/decode-0.log")
    assert log == b"first line\nAuthorization: Bearer [key taken out]\n\xff\xfe no text\n"


def test_without_prompts_nothing_is_in_it_that_could_quote_one(scene: tuple[Store, Scene]) -> None:
    store, made = scene
    assert made.leaked is not None

    archive = _bundle(store, scope_of_session(store, stored_id(made.leaked)), Redacted.PROMPTS)

    told = b"".join(archive.read(name) for name in archive.namelist())
    assert b"Refund it in full" not in told
    assert b"A-20417" not in told
    assert b"a prompt" not in told
    assert not [name for name in archive.namelist() if name.startswith("logs/")]
    assert "they may quote prompts" in json.loads(archive.read("manifest.json"))["left_out"][0]
    transcript = archive.read(f"transcripts/s-{made.leaked.id}/transcript.md")
    assert b"DSML" in transcript
    assert b"Log events meanwhile" in transcript
