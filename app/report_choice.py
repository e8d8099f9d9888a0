"""What the report page's address asks for, in the terms of the report and of the command line."""

import shlex

from app.links import ReportForm, ReportPlace, Withheld
from db.identifiers import IdKind, format_id
from runner.report.issue_report import Project
from runner.report.redaction import Redacted
from runner.report.report_formats import DocumentFormat

FORM_WORDS = {
    ReportForm.MARKDOWN: "Markdown",
    ReportForm.HTML: "HTML",
    ReportForm.PDF: "PDF",
    ReportForm.SGLANG: "SGLang issue",
    ReportForm.VLLM: "vLLM issue",
    ReportForm.CSV: "CSV tables",
    ReportForm.PARQUET: "Parquet tables",
    ReportForm.BUNDLE: "Bundle",
}
_OUTPUTS = {
    ReportForm.PDF: "report.pdf",
    ReportForm.CSV: "tables",
    ReportForm.PARQUET: "tables",
    ReportForm.BUNDLE: "bundle.zip",
}
_TAKEN_OUT: dict[Withheld, tuple[Redacted, ...]] = {
    Withheld.NOTHING: (),
    Withheld.HOSTS: (Redacted.HOSTS,),
    Withheld.PROMPTS: (Redacted.PROMPTS,),
    Withheld.BOTH: (Redacted.HOSTS, Redacted.PROMPTS),
}


def project_of(form: ReportForm) -> Project | None:
    return Project(form) if form in (ReportForm.SGLANG, ReportForm.VLLM) else None


def format_of(form: ReportForm) -> DocumentFormat:
    """Of a form that is a document."""
    return DocumentFormat.MARKDOWN if project_of(form) else DocumentFormat(form)


def taken_out(without: Withheld) -> tuple[Redacted, ...]:
    return _TAKEN_OUT[without]


def withheld(kinds: list[Redacted]) -> Withheld:
    wanted = set(kinds)
    return next(each for each, parts in _TAKEN_OUT.items() if set(parts) == wanted)


def subject_of(place: ReportPlace, *, campaign_name: str) -> str:
    """As the command line names it: `decisive-test`, `a-6 --versus a-5`, `s-81`."""
    if place.session is not None:
        return format_id(IdKind.SESSION, place.session)
    if place.arm is None:
        return shlex.quote(campaign_name)
    versus = f" --versus {format_id(IdKind.ARM, place.versus)}" if place.versus else ""
    return f"{format_id(IdKind.ARM, place.arm)}{versus}"


def command_of(place: ReportPlace, *, campaign_id: int) -> str:
    """What gives the same bytes at a terminal."""
    words = ["decisive report"]
    words.append(subject_of(place, campaign_name=format_id(IdKind.CAMPAIGN, campaign_id)))
    project = project_of(place.form)
    if project is not None:
        words.append(f"--for {project}")
    elif place.form is not ReportForm.MARKDOWN:
        words.append(f"--format {place.form}")
    words += [f"--redact {kind}" for kind in taken_out(place.without)]
    if place.form in _OUTPUTS:
        words.append(f"--output {_OUTPUTS[place.form]}")
    return " ".join(words)
