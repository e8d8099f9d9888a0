"""The forms of a report that are one document; tables and bundles are made elsewhere."""

from enum import StrEnum

from runner.report.document import ReportDocument
from runner.report.html import to_html
from runner.report.issue_report import Project, to_issue
from runner.report.markdown import to_markdown
from runner.report.pdf import to_pdf


class DocumentFormat(StrEnum):
    MARKDOWN = "markdown"
    HTML = "html"
    PDF = "pdf"

    @property
    def suffix(self) -> str:
        return ".md" if self is DocumentFormat.MARKDOWN else f".{self.value}"

    @property
    def media_type(self) -> str:
        return "application/pdf" if self is DocumentFormat.PDF else f"text/{self.value}"


def rendered(
    document: ReportDocument, format: DocumentFormat, *, project: Project | None = None
) -> bytes:
    """The bytes of the file; the same for the same document. `project`: for its bug form, which
    takes Markdown. Raises UsageError.
    """
    if project is not None:
        return to_issue(document, project).body.encode()
    match format:
        case DocumentFormat.MARKDOWN:
            return to_markdown(document).encode()
        case DocumentFormat.HTML:
            return to_html(document).encode()
        case DocumentFormat.PDF:
            return to_pdf(document)
