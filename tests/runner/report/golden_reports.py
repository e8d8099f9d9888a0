"""Reports on the stored scene of the decisive test, as they are kept in `tests/data/reports`.

`python -m tests.runner.report.golden_reports` writes them anew.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from db.reads.campaigns import campaign
from db.store import Store
from runner.report.document import ReportDocument
from runner.report.issue_report import Project
from runner.report.redaction import Redacted
from runner.report.report_formats import DocumentFormat, rendered
from runner.report.stored_report import (
    ReportScope,
    redactor_for,
    scope_of_arm,
    scope_of_session,
    stored_report,
)
from tests.app.scenes import decisive_test
from tests.db.factories import stored_id
from tests.db.fresh_stores import fresh_store

KEPT = Path(__file__).parents[2] / "data" / "reports"
BASE_URL = "http://gpu-box:8501"


def golden_scopes(store: Store) -> dict[str, ReportScope]:
    """The store is filled here."""
    scene = decisive_test(store)
    assert scene.leaked is not None
    with store.session() as session:
        facts = campaign(session.connection(), 1)
    assert facts is not None
    broken, changed = (stored_id(scene.stored.arms[place]) for place in (7, 9))
    return {
        "campaign": ReportScope(facts),
        "arm": scope_of_arm(store, broken),
        "comparison": scope_of_arm(store, changed, broken),
        "session": scope_of_session(store, stored_id(scene.leaked)),
    }


def golden_documents(store: Store) -> Iterator[tuple[str, ReportDocument]]:
    for name, scope in golden_scopes(store).items():
        yield name, _document(store, scope)


def golden_reports(store: Store) -> Iterator[tuple[str, bytes]]:
    """File name and bytes."""
    scopes = golden_scopes(store)
    documents = {name: _document(store, scope) for name, scope in scopes.items()}
    for name, document in documents.items():
        yield f"{name}.md", rendered(document, DocumentFormat.MARKDOWN)
    for name in ("campaign", "session"):
        yield f"{name}.html", rendered(documents[name], DocumentFormat.HTML)
    bare = _document(store, scopes["session"], *Redacted)
    yield "session-without-prompts.md", rendered(bare, DocumentFormat.MARKDOWN)
    for project in Project:
        made = rendered(documents["comparison"], DocumentFormat.MARKDOWN, project=project)
        yield f"issue-{project}.md", made


def _document(store: Store, scope: ReportScope, *taken_out: Redacted) -> ReportDocument:
    redactor = redactor_for(store, scope, {Redacted.KEYS, *taken_out})
    return stored_report(store, scope, redactor=redactor, base_url=BASE_URL)


def _write_all() -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as folder, fresh_store(Path(folder)) as store:
        for name, made in golden_reports(store):
            (KEPT / name).write_bytes(made)
            sys.stdout.write(f"{name}: {len(made):,} bytes\n")


if __name__ == "__main__":
    _write_all()
