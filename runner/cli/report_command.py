"""`decisive report`: a campaign, an arm, two arms or a session, in a form to be taken along."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from db.identifiers import IdKind, parse_id
from db.store import Store, open_store_read_only
from db.store_url import DEFAULT_STORE_URL
from runner.cli.console import say, say_json, tell
from runner.cli.opening import find_stored_campaign
from runner.cli.options import JsonOption, StoreOption
from runner.cli.output_files import refuse_to_replace, write_file, write_folder
from runner.errors import UsageError
from runner.report.bundle import (
    TRANSCRIPTS_OF_ARM,
    bundle_contents,
    scope_tables,
    write_bundle,
)
from runner.report.document import ReportDocument
from runner.report.issue_report import Project, to_issue
from runner.report.redaction import Redacted, Redactor
from runner.report.report_formats import DocumentFormat, rendered
from runner.report.stored_report import (
    ALWAYS_TAKEN_OUT,
    ReportScope,
    redactor_for,
    scope_of_arm,
    scope_of_session,
    stored_report,
)
from runner.report.table_files import csv_chunks, write_parquet


class ReportFormat(StrEnum):
    MARKDOWN = "markdown"
    HTML = "html"
    PDF = "pdf"
    CSV = "csv"
    PARQUET = "parquet"
    BUNDLE = "bundle"


_OF_SUFFIX = {
    ".md": ReportFormat.MARKDOWN,
    ".markdown": ReportFormat.MARKDOWN,
    ".txt": ReportFormat.MARKDOWN,
    "": ReportFormat.MARKDOWN,
    ".html": ReportFormat.HTML,
    ".htm": ReportFormat.HTML,
    ".pdf": ReportFormat.PDF,
    ".zip": ReportFormat.BUNDLE,
}
_TABLES = (ReportFormat.CSV, ReportFormat.PARQUET)
_BASE_URL = re.compile(r"https?://[A-Za-z0-9.\-_~\[\]:]+(/[A-Za-z0-9.\-_~/%]*)?")


def report(
    subject: Annotated[
        str | None,
        typer.Argument(
            metavar="[SUBJECT]",
            help="A campaign (c-3 or its name, the newest by default), an arm (a-5) or a session "
            "(s-81).",
        ),
    ] = None,
    versus: Annotated[
        str | None, typer.Option("--versus", metavar="ARM", help="The arm to compare an arm with.")
    ] = None,
    store: StoreOption = DEFAULT_STORE_URL,
    format: Annotated[
        ReportFormat | None,
        typer.Option(
            "--format",
            help="Told by the name of the output where that ends in .md, .html, .pdf or .zip.",
            show_default="markdown",
        ),
    ] = None,
    project: Annotated[
        Project | None,
        typer.Option("--for", help="Markdown under the headings of this project's bug form."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A file, for csv and parquet a folder; else, and for -, standard output.",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the output where it exists.")
    ] = False,
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url",
            metavar="URL",
            help="Where readers reach the dashboard: makes each number a link to its page.",
        ),
    ] = None,
    redact: Annotated[
        list[Redacted] | None,
        typer.Option("--redact", help="Take out hosts or prompts as well; keys always are."),
    ] = None,
    transcripts: Annotated[
        int,
        typer.Option(
            "--transcripts", min=0, help="Failing sessions of each arm that a bundle quotes."
        ),
    ] = TRANSCRIPTS_OF_ARM,
    as_json: JsonOption = False,
) -> None:
    """Write a report: Markdown, HTML, PDF, tables, or a bundle of all that it rests on."""
    output = None if output == Path("-") else output
    chosen = _format(format, output, project)
    _check(chosen, output, base_url, versus, project, as_json=as_json)
    if output is not None and output.is_dir() and chosen not in _TABLES:
        raise UsageError(f"{output} is a folder: name a file")
    if output is not None:
        refuse_to_replace(output, force=force)
    with open_store_read_only(store) as opened:
        scope = _scope(opened, subject, versus)
        redactor = redactor_for(opened, scope, {*ALWAYS_TAKEN_OUT, *(redact or ())})
        work = _Work(opened, scope, redactor, base_url, project, output, force)
        if chosen is ReportFormat.BUNDLE:
            work.bundle(transcripts)
        elif chosen in _TABLES:
            work.tables(chosen)
        else:
            work.document(DocumentFormat(chosen), as_json=as_json)


@dataclass(frozen=True, slots=True)
class _Work:
    """One call: of what, and where to."""

    store: Store
    scope: ReportScope
    redactor: Redactor
    base_url: str | None
    project: Project | None
    output: Path | None
    force: bool

    def document(self, form: DocumentFormat, *, as_json: bool) -> None:
        document = self._report()
        made = rendered(document, form, project=self.project)
        if self.project is not None:
            tell(f"title: {to_issue(document, self.project).title}")
        if self.output is not None:
            self._write(lambda file: file.write(made))
        if as_json:
            told = {"campaign": self.scope.campaign.name, "format": str(form)}
            say_json({**told, "text": made.decode()})
        elif self.output is None:
            say(made.decode().rstrip("\n"))

    def tables(self, form: ReportFormat) -> None:
        assert self.output is not None
        tables = scope_tables(self.store, self.scope, hides_prompts=self.redactor.hides_prompts)
        with write_folder(self.output, force=self.force) as folder:
            for table in tables:
                with (folder / f"{table.name}.{form}").open("wb") as file:
                    if form is ReportFormat.PARQUET:
                        write_parquet(table, file, self.redactor)
                    else:
                        file.writelines(csv_chunks(table, self.redactor))
        tell(f"written to {self.output}: {', '.join(table.name for table in tables)}")

    def bundle(self, transcripts: int) -> None:
        document = self._report()
        contents = bundle_contents(
            self.store, self.scope, document, redactor=self.redactor, transcripts=transcripts
        )
        self._write(lambda file: write_bundle(file, contents, title=document.title))
        for sentence in contents.left_out:
            tell(sentence)

    def _report(self) -> ReportDocument:
        return stored_report(self.store, self.scope, redactor=self.redactor, base_url=self.base_url)

    def _write(self, write: Callable[[BinaryIO], object]) -> None:
        assert self.output is not None
        with write_file(self.output, force=self.force) as file:
            write(file)
        tell(f"written to {self.output}")


def _format(
    given: ReportFormat | None, output: Path | None, project: Project | None
) -> ReportFormat:
    if given is not None:
        return given
    if project is not None or output is None:
        return ReportFormat.MARKDOWN
    if (of_suffix := _OF_SUFFIX.get(output.suffix.lower())) is None:
        raise UsageError(
            f"--output: {output.name} tells no format; end it in "
            f"{', '.join(filter(None, _OF_SUFFIX))}, or name one with --format."
        )
    return of_suffix


def _check(
    chosen: ReportFormat,
    output: Path | None,
    base_url: str | None,
    versus: str | None,
    project: Project | None,
    *,
    as_json: bool,
) -> None:
    """Raises UsageError for what does not go together."""
    is_binary = chosen not in (ReportFormat.MARKDOWN, ReportFormat.HTML)
    if output is None and is_binary:
        what = "a folder" if chosen in _TABLES else "a file"
        raise UsageError(f"{chosen} is not for standard output: name {what} with --output")
    if as_json and is_binary:
        raise UsageError(f"--json goes with markdown and html, not with {chosen}")
    if project is not None and chosen is not ReportFormat.MARKDOWN:
        raise UsageError(f"--for {project} is Markdown for an issue, not {chosen}")
    if base_url is not None and not _BASE_URL.fullmatch(base_url):
        raise UsageError(f"--base-url is an address such as http://gpu-box:8501, not {base_url!r}")


def _scope(store: Store, subject: str | None, versus: str | None) -> ReportScope:
    """Raises UsageError."""
    arm_id = parse_id(IdKind.ARM, subject or "")
    session_id = parse_id(IdKind.SESSION, subject or "")
    versus_id = parse_id(IdKind.ARM, versus or "")
    if versus is not None and (arm_id is None or versus_id is None):
        raise UsageError(
            "--versus compares two arms by their ids, such as: decisive report a-6 --versus a-5"
        )
    if arm_id is not None:
        return scope_of_arm(store, arm_id, versus_id)
    if session_id is not None:
        return scope_of_session(store, session_id)
    if subject is not None and parse_id(IdKind.RUN, subject) is not None:
        raise UsageError(f"{subject} is a run: a report is on a campaign, an arm or a session")
    return ReportScope(find_stored_campaign(store, subject))
