"""What is to be taken out is planted wherever it can stand, and looked for in every form."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from click.testing import CliRunner
from pyarrow import parquet
from sqlalchemy import text

from db.raw_bytes import raw_row
from db.reads.campaigns import campaign
from db.store import Store
from db.tables.observations import LogEventRow
from db.vocabulary import RawKind
from runner.cli.command_list import loaded_command
from runner.report.pdf import pages
from runner.report.redaction import Redacted
from runner.report.stored_report import (
    ReportScope,
    redactor_for,
    scope_of_arm,
    scope_of_session,
    stored_report,
)
from tests.app.scenes import decisive_test
from tests.db.fresh_stores import START_US, fresh_store

PROMPT = "quokka"
HOST = "wombat7"
KEY = "sk-platypus0123456789"
SECRET = "echidna0123456789"

SOURCE = f"""\
campaign: decisive-test  # {PROMPT}1: what we ask of it
question: Does the dtype-aware host pool end the corruption?
stack: testbed
factors: {{hicache: [on, off], concurrency: [80]}}
notify: [ssh, {HOST}, tell, --api-key, {SECRET}]
workload:
  # {PROMPT}2
  system: &said |
    You are {PROMPT}3.
    Never say {PROMPT}4.
  sessions: {{80: 80}}
  request:
    temperature: 0
    stop: ["{PROMPT}5"]
    response_format: {{json_schema: {{{PROMPT}6: string}}}}
    user: *said
"""
DETAIL = f"Bad Request: {{message: {PROMPT}7 was too long}} at http://{HOST}:3000 by Bearer {KEY}"
LOG = f"{HOST} refused {PROMPT}8 of ops@{HOST} with {KEY}"
COMMAND = {
    "argv": ["ssh", "-p", "22", HOST, "serve", "--dist-init-addr", f"{HOST}:5000"],
    "env": {"MASTER_ADDR": HOST, "HF_TOKEN": SECRET},
}
FACTS = {
    "version": "0.1.0",
    "model_path": f"/home/{HOST}-user/models/tiny",
    "models": [f"http://{HOST}:3000/v1"],
    "internal_states": [{"bootstrap_host": HOST, "api_key": SECRET}],
}
CONTEXT = {"user": f"{PROMPT}9", "prior": [{"role": "tool", "text": f"{PROMPT}10"}]}
DUE = {"kind": "call", "name": "look", "arguments": {"city": f"{PROMPT}11"}}
STACK = {"hosts": {"a": {"ssh": ["ssh", HOST]}}, "services": {"x": {"url": f"http://{HOST}/"}}}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder: Path = tmp_path_factory.mktemp("leaks")
    with fresh_store(folder) as opened:
        made = decisive_test(opened)
        assert made.leaked is not None
        _plant(opened, made.leaked.run_id)
        yield opened


def _plant(store: Store, run_id: int) -> None:
    values: dict[str, Any] = {
        "source": SOURCE,
        "definition": json.dumps({"stack": STACK}),
        "detail": DETAIL,
        "command": json.dumps({"server": COMMAND}),
        "facts": json.dumps(FACTS),
        "context": json.dumps(CONTEXT),
        "due": json.dumps(DUE),
        "worker": f"worker-1@{HOST}",
        "reason": f"{HOST} could not be reached with {KEY}",
        "line": LOG,
    }
    with store.write() as session:
        for statement in (
            "UPDATE campaign SET source_text = :source, definition = :definition",
            "UPDATE session SET detail = :detail",
            "UPDATE turn SET detail = :detail, context = :context, due = :due",
            "UPDATE launch SET commands = :command",
            "UPDATE fingerprint SET facts = :facts",
            "UPDATE run SET worker = :worker",
            "UPDATE run SET reason = :reason WHERE state <> 'done'",
            "UPDATE log_event SET line = :line",
        ):
            session.connection().execute(text(statement), values)
        raw = (RawKind.SERVICE_LOG, RawKind.WEDGE_LOG_TAIL, RawKind.WEDGE_IN_FLIGHT)
        for kind in (*raw, RawKind.WEDGE_SERVER_INFO, RawKind.WEDGE_STACKS):
            said = LOG if kind in raw else LOG.replace(PROMPT, "")
            session.add(raw_row(run_id, kind, said.encode(), at_us=START_US, service=HOST))
        session.add(
            LogEventRow(
                run_id=run_id,
                service="server",
                at_us=START_US + 9_000_000,
                kind="request_error",
                event_class="error",
                line=LOG,
            )
        )


def _run(store: Store, *arguments: str) -> str:
    command = ["--store", store.url, *arguments]
    for kind in ("hosts", "prompts"):
        command += ["--redact", kind]
    result = CliRunner().invoke(loaded_command("report"), command)
    assert result.exit_code == 0, result.output
    return result.stdout


def _texts(data: bytes, name: str) -> str:
    if not name.endswith(".parquet"):
        return data.decode("utf-8", "replace")
    table = parquet.read_table(io.BytesIO(data))
    return json.dumps(table.to_pylist(), default=str) + str(table.schema)


def _assert_clean(said: str, where: str) -> None:
    for planted in (PROMPT, HOST, KEY, SECRET):
        at = said.lower().find(planted)
        assert at < 0, f"{where} holds {said[max(0, at - 80) : at + 80]!r}"


SCOPES = (["c-1"], ["a-8"], ["a-10", "--versus", "a-8"], ["s-1"], ["s-81"])


@pytest.mark.parametrize("scope", SCOPES, ids=" ".join)
@pytest.mark.parametrize("form", [(), ("--format", "html"), ("--for", "sglang"), ("--json",)])
def test_what_is_printed_holds_nothing_that_was_taken_out(
    store: Store, scope: list[str], form: tuple[str, ...]
) -> None:
    _assert_clean(_run(store, *scope, *form), " ".join([*scope, *form]))


def test_the_data_that_a_pdf_is_set_from_holds_nothing_that_was_taken_out(store: Store) -> None:
    with store.session() as session:
        facts = campaign(session.connection(), 1)
    assert facts is not None
    for scope in (ReportScope(facts), scope_of_arm(store, 10, 8), scope_of_session(store, 1)):
        document = stored_report(store, scope, redactor=redactor_for(store, scope, Redacted))

        _assert_clean(json.dumps(pages(document), ensure_ascii=False), scope.name)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_tables_hold_nothing_that_was_taken_out(store: Store, tmp_path: Path, form: str) -> None:
    _run(store, "c-1", "--format", form, "-o", str(tmp_path / "tables"))

    for file in (tmp_path / "tables").iterdir():
        _assert_clean(_texts(file.read_bytes(), file.name), file.name)


@pytest.mark.parametrize("scope", SCOPES, ids=" ".join)
def test_a_bundle_holds_nothing_that_was_taken_out(
    store: Store, tmp_path: Path, scope: list[str]
) -> None:
    _run(store, *scope, "-o", str(tmp_path / "all.zip"))

    with ZipFile(tmp_path / "all.zip") as archive:
        for name in archive.namelist():
            _assert_clean(name, "the name of a file")
            _assert_clean(_texts(archive.read(name), name), name)


def test_keys_are_in_no_form_though_nothing_else_is_taken_out(store: Store, tmp_path: Path) -> None:
    command = ["c-1", "--store", store.url, "-o", str(tmp_path / "all.zip")]
    assert CliRunner().invoke(loaded_command("report"), command).exit_code == 0

    with ZipFile(tmp_path / "all.zip") as archive:
        for name in archive.namelist():
            said = _texts(archive.read(name), name)
            assert KEY not in said and SECRET not in said, name
        assert PROMPT in archive.read("campaign.yaml").decode()


def test_a_reproduction_holds_no_key(store: Store, tmp_path: Path) -> None:
    command = ["s-1", "--to", str(tmp_path / "again"), "--store", store.url]
    result = CliRunner().invoke(loaded_command("repro"), command)
    assert result.exit_code == 0, result.output

    for file in (tmp_path / "again").rglob("*"):
        if file.is_file():
            said = file.read_text()
            assert KEY not in said and SECRET not in said, file.name


def test_what_is_left_of_the_campaign_file_says_what_it_is(store: Store, tmp_path: Path) -> None:
    _run(store, "c-1", "-o", str(tmp_path / "all.zip"))

    with ZipFile(tmp_path / "all.zip") as archive:
        left = archive.read("campaign.yaml").decode()
        manifest = json.loads(archive.read("manifest.json"))
    assert "temperature: 0" in left
    assert "concurrency:" in left and "- on" in left
    assert "system: '[" in left and "characters]'" in left
    assert "campaign.yaml is without its comments" in " ".join(manifest["left_out"])
    assert "its sessions are not played again by this" in _run(store, "c-1")


def test_the_planted_words_are_found_where_nothing_is_taken_out(
    store: Store, tmp_path: Path
) -> None:
    """Else the tests above would find nothing whatever was written."""
    command = ["c-1", "--store", store.url, "-o", str(tmp_path / "all.zip")]
    assert CliRunner().invoke(loaded_command("report"), command).exit_code == 0

    with ZipFile(tmp_path / "all.zip") as archive:
        said = "".join(_texts(archive.read(name), name) for name in archive.namelist())
    shown_in_no_form = {10}  # what stood before the last question
    missing = {number for number in range(1, 12) if f"{PROMPT}{number}" not in said}
    assert missing == shown_in_no_form
    assert HOST in said
