"""Everything that a report rests on in one zip file: read from the store piece by piece and written
as it comes, with the same bytes for the same record.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from tempfile import TemporaryFile
from typing import Any, BinaryIO, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from db.identifiers import IdKind, format_id
from db.reads.campaigns import ArmFacts
from db.reads.observations import raw_bytes, raw_of_run, raw_of_turns
from db.reads.runs import RunCounts
from db.reads.sessions import sessions_of_runs, turns
from db.store import Store
from db.vocabulary import Outcome, OutcomeClass, RawKind
from runner.report.data_tables import DataTable, data_tables
from runner.report.document import ReportDocument, with_texts
from runner.report.html import to_html
from runner.report.markdown import to_markdown
from runner.report.redaction import Redacted, Redactor
from runner.report.report_record import CampaignRecord
from runner.report.session_report import session_report
from runner.report.stored_record import campaign_record, session_record
from runner.report.stored_report import ReportScope
from runner.report.table_files import csv_chunks, write_parquet

TRANSCRIPTS_OF_ARM = 50
"""Failing sessions whose transcript is put in, unless told otherwise."""

_FIXED_TIME = (1980, 1, 1, 0, 0, 0)  # the first that a zip file can name
_FILE_MODE = 0o644 << 16
_UNIX = 3
_PIECE_BYTES = 1 << 20
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_BLACK_BOX = tuple(kind for kind in RawKind if kind.startswith("wedge_"))
_MAY_QUOTE_PROMPTS = (
    "requests, responses and service logs are left out, and so is what was in flight at a wedge, "
    "because they may quote prompts"
)
_NO_PROMPTS_OF_FILE = "campaign.yaml is without its comments and what it has the client say"
_NO_FILE = "campaign.yaml is left out, because what in it is a prompt cannot be told"


@dataclass(frozen=True, slots=True)
class Member:
    """One file of the bundle; `chunks` is read once."""

    name: str
    chunks: Iterable[bytes]


class BundleContents(NamedTuple):
    """`left_out`: sentences on what a reader could expect and does not find."""

    members: Iterator[Member]
    left_out: Sequence[str]


def write_bundle(into: BinaryIO, contents: BundleContents, *, title: str) -> None:
    """`manifest.json` comes last: name, size and sha256 of all others, and what was left out."""
    listed = []
    with ZipFile(into, "w", ZIP_DEFLATED) as archive:
        for member in contents.members:
            digest, size = sha256(), 0
            with archive.open(_entry(member.name), "w", force_zip64=True) as file:
                for chunk in member.chunks:
                    digest.update(chunk)
                    size += len(chunk)
                    file.write(chunk)
            listed.append({"name": member.name, "bytes": size, "sha256": digest.hexdigest()})
        manifest = {"report": title, "left_out": list(contents.left_out), "files": listed}
        archive.writestr(_entry("manifest.json"), _json(manifest))


def bundle_contents(
    store: Store,
    scope: ReportScope,
    document: ReportDocument,
    *,
    redactor: Redactor,
    transcripts: int = TRANSCRIPTS_OF_ARM,
) -> BundleContents:
    """`transcripts`: of so many failing sessions of each arm, the corrupt ones first."""
    record = campaign_record(store, scope.campaign, hides_prompts=redactor.hides_prompts)
    gathering = _Gathering(store, record, scope, redactor, transcripts)
    return BundleContents(gathering.members(document), gathering.left_out())


def scope_tables(store: Store, scope: ReportScope, *, hides_prompts: bool) -> tuple[DataTable, ...]:
    """The tables of what the report is about."""
    record = campaign_record(store, scope.campaign, hides_prompts=hides_prompts)
    redactor = Redactor([Redacted.PROMPTS] if hides_prompts else [])
    return _Gathering(store, record, scope, redactor, 0).tables()


@dataclass(frozen=True, slots=True)
class _Gathering:
    store: Store
    record: CampaignRecord
    scope: ReportScope
    redactor: Redactor
    transcripts: int

    def members(self, document: ReportDocument) -> Iterator[Member]:
        yield Member("report.md", [to_markdown(document).encode()])
        yield Member("report.html", [to_html(document).encode()])
        if self.record.source_text:
            yield Member("campaign.yaml", [self.redactor(self.record.source_text).encode()])
        for table in self.tables():
            yield Member(f"tables/{table.name}.csv", csv_chunks(table, self.redactor))
            yield Member(f"tables/{table.name}.parquet", _parquet_chunks(table, self.redactor))
        yield from self._fingerprints()
        for session_id in self._session_ids():
            yield from self._session(session_id)
        for run in self._runs():
            yield from self._run(run)

    def left_out(self) -> list[str]:
        said = [_MAY_QUOTE_PROMPTS] if self.redactor.hides_prompts else []
        if self.redactor.hides_prompts and self.record.source_text != "":
            said.append(_NO_PROMPTS_OF_FILE if self.record.source_text else _NO_FILE)
        kinds = [*self._corrupt(), *_SILENT]
        failing = sum(run.counts[kind] for run in self._runs() for kind in kinds)
        shown = len(self._session_ids())
        if self.scope.session_id is None and shown < failing:
            said.append(
                f"{shown:,} of {failing:,} failing sessions have their transcript here, at most "
                f"{self.transcripts:,} of each arm"
            )
        return said

    def _arms(self) -> list[ArmFacts]:
        if self.scope.session_id is not None:
            own = {run.arm_id for run in self._runs()}
            return [arm for arm in self.record.arms if arm.id in own]
        wanted = {self.scope.arm_id, self.scope.versus_id} - {None}
        return [arm for arm in self.record.arms if not wanted or arm.id in wanted]

    def _runs(self) -> list[RunCounts]:
        if self.scope.session_id is not None:
            run_id = session_record(self.store, self.scope.session_id).run.id
            return [run for run in self.record.runs if run.id == run_id]
        ids = {arm.id for arm in self._arms()}
        return [run for run in self.record.runs if run.arm_id in ids]

    def tables(self) -> tuple[DataTable, ...]:
        return data_tables(
            self.store,
            self.record,
            arm_ids=[arm.id for arm in self._arms()],
            hides_prompts=self.redactor.hides_prompts,
        )

    def _fingerprints(self) -> Iterator[Member]:
        launches = {run.launch_id for run in self._runs()}
        for launch in self.record.launches:
            if launch.launch_id not in launches:
                continue
            told = {"commands": dict(launch.commands), "services": dict(launch.facts)}
            name = format_id(IdKind.LAUNCH, launch.launch_id)
            yield Member(f"fingerprints/{name}.json", [self.redactor(_json(told)).encode()])

    def _corrupt(self) -> list[str]:
        return [str(outcome) for outcome in self.record.campaign.corrupt_outcomes]

    def _session_ids(self) -> list[int]:
        if self.scope.session_id is not None:
            return [self.scope.session_id]
        found: list[int] = []
        with self.store.session() as session:
            connection = session.connection()
            for arm in self._arms():
                own = [run.id for run in self._runs() if run.arm_id == arm.id]
                left = self.transcripts
                for outcomes in (self._corrupt(), _SILENT):
                    some = sessions_of_runs(connection, own, outcomes=outcomes, limit=left)
                    found += [each.id for each in some]
                    left -= len(some)
        return found

    def _session(self, session_id: int) -> Iterator[Member]:
        hides = self.redactor.hides_prompts
        record = session_record(self.store, session_id, hides_prompts=hides)
        name = format_id(IdKind.SESSION, session_id)
        shown = with_texts(session_report(record), self.redactor)
        yield Member(f"transcripts/{name}/transcript.md", [to_markdown(shown).encode()])
        if hides:
            return
        with self.store.session() as session:
            connection = session.connection()
            played = {turn.id: turn.turn_index for turn in turns(connection, session_id)}
            pieces = raw_of_turns(connection, list(played))
        for piece in pieces:
            turn = played[piece.turn_id or 0] + 1  # as the transcript counts
            cut = ".cut" if piece.is_capped else ""
            file = f"turn-{turn}-{piece.kind}-{piece.id}{cut}"
            yield Member(f"transcripts/{name}/{file}", self._raw([piece.id]))

    def _run(self, run: RunCounts) -> Iterator[Member]:
        """The logs of its services, each as one file, and what was kept at its wedges."""
        hides = self.redactor.hides_prompts
        name = format_id(IdKind.RUN, run.id)
        with self.store.session() as session:
            connection = session.connection()
            logs = [] if hides else raw_of_run(connection, run.id, [RawKind.SERVICE_LOG])
            boxes = raw_of_run(connection, run.id, _BLACK_BOX)
        for service in sorted({piece.service or "service" for piece in logs}):
            ids = [piece.id for piece in logs if (piece.service or "service") == service]
            yield Member(f"logs/{name}/{self._named(service)}.log", self._raw(ids))
        for piece in boxes:
            if hides and piece.kind in (RawKind.WEDGE_IN_FLIGHT, RawKind.WEDGE_LOG_TAIL):
                continue
            file = f"{piece.at_us}-{self._named(piece.service or 'all')}-{piece.kind}"
            yield Member(f"black_boxes/{name}/{file}", self._raw([piece.id]))

    def _named(self, service: str) -> str:
        return _safe(self.redactor(service))

    def _raw(self, ids: Sequence[int]) -> Iterator[bytes]:
        """Recorded bytes one behind the other, redacted line by line; bytes that are no text stay
        as they are.
        """
        rest = b""
        for raw_id in ids:
            with self.store.session() as session:
                piece = rest + (raw_bytes(session.connection(), raw_id) or b"")
            whole, end, rest = piece.rpartition(b"\n")
            if len(rest) > _PIECE_BYTES:
                whole, end, rest = piece, b"", b""
            yield _redacted_bytes(whole + end, self.redactor)
        yield _redacted_bytes(rest, self.redactor)


_SILENT = [str(outcome) for outcome in Outcome if outcome.outcome_class is OutcomeClass.SILENT]


def _redacted_bytes(data: bytes, redact: Callable[[str], str]) -> bytes:
    text = data.decode("utf-8", errors="surrogateescape")
    return redact(text).encode("utf-8", errors="surrogateescape")


def _parquet_chunks(table: DataTable, redact: Callable[[str], str]) -> Iterator[bytes]:
    with TemporaryFile() as file:
        write_parquet(table, file, redact)
        file.seek(0)
        yield from iter(partial(file.read, _PIECE_BYTES), b"")


def _entry(name: str) -> ZipInfo:
    entry = ZipInfo(name, date_time=_FIXED_TIME)
    entry.compress_type = ZIP_DEFLATED
    entry.external_attr = _FILE_MODE
    entry.create_system = _UNIX
    return entry


def _safe(name: str) -> str:
    return _UNSAFE.sub("-", name).strip(".-") or "unnamed"


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=True) + "\n"
