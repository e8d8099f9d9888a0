"""The data of a report as the command line writes it: tables as single files, and the bundle."""

from io import BytesIO

from app.kept_answers import opened_store, store_key
from app.links import ReportForm
from runner.report.bundle import bundle_contents, scope_tables, write_bundle
from runner.report.data_tables import DataTable
from runner.report.redaction import Redacted, Redactor
from runner.report.stored_report import (
    ALWAYS_TAKEN_OUT,
    ReportScope,
    redactor_for,
    stored_report,
)
from runner.report.table_files import csv_chunks, write_parquet


def tables_of(scope: ReportScope, taken_out: tuple[Redacted, ...]) -> tuple[DataTable, ...]:
    """Their rows are read when they are written."""
    store = opened_store(store_key())
    return scope_tables(store, scope, hides_prompts=Redacted.PROMPTS in taken_out)


def table_file(
    scope: ReportScope, taken_out: tuple[Redacted, ...], form: ReportForm, table: DataTable
) -> bytes:
    redactor = _redactor(scope, taken_out)
    if form is ReportForm.CSV:
        return b"".join(csv_chunks(table, redactor))
    file = BytesIO()
    write_parquet(table, file, redactor)
    return file.getvalue()


def bundle_file(scope: ReportScope, taken_out: tuple[Redacted, ...]) -> bytes:
    """Raises UsageError."""
    store = opened_store(store_key())
    redactor = _redactor(scope, taken_out)
    document = stored_report(store, scope, redactor=redactor)
    contents = bundle_contents(store, scope, document, redactor=redactor)
    file = BytesIO()
    write_bundle(file, contents, title=document.title)
    return file.getvalue()


def _redactor(scope: ReportScope, taken_out: tuple[Redacted, ...]) -> Redactor:
    return redactor_for(opened_store(store_key()), scope, {*ALWAYS_TAKEN_OUT, *taken_out})
