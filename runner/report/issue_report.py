"""A report cut to the form in which a project takes bugs: its headings, its length.

The headings are those of the bug report forms in the projects' `.github/ISSUE_TEMPLATE`, as they
stood in November 2026: `1-bug-report.yml` of SGLang, `400-bug-report.yml` of vLLM.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

from runner.errors import UsageError
from runner.report.document import (
    Block,
    Heading,
    Paragraph,
    ReportDocument,
    Section,
    SectionRole,
    Table,
    Verbatim,
)
from runner.report.markdown import to_markdown

MAX_BODY = 65_536
"""Characters that GitHub takes as the body of an issue."""

_LEAST_KEPT = 400
_LEAST_ROWS = 4
_CUT = "[cut: the whole report has more]"


class Project(StrEnum):
    SGLANG = "sglang"
    VLLM = "vllm"


class IssueReport(NamedTuple):
    """What goes into the two fields of a new issue."""

    title: str
    body: str


@dataclass(frozen=True, slots=True)
class _Form:
    title_prefix: str
    headings: tuple[tuple[str, tuple[SectionRole, ...]], ...]  # without roles: left to who files it
    ask_environment: str


_FORMS = {
    Project.SGLANG: _Form(
        "[Bug] ",
        (
            ("Checklist", ()),
            ("Describe the bug", (SectionRole.FINDING,)),
            ("Reproduction", (SectionRole.REPRODUCTION,)),
            ("Environment", (SectionRole.ENVIRONMENT,)),
        ),
        "python3 -m sglang.check_env",
    ),
    Project.VLLM: _Form(
        "[Bug]: ",
        (
            ("Your current environment", (SectionRole.ENVIRONMENT,)),
            ("🐛 Describe the bug", (SectionRole.FINDING, SectionRole.REPRODUCTION)),
            ("Before submitting a new issue...", ()),
        ),
        "python collect_env.py",
    ),
}


def to_issue(document: ReportDocument, project: Project) -> IssueReport:
    """Links are kept only where the dashboard's address is given: others lead nowhere there.

    What is too long for an issue is cut, the longest text first, and says so. Raises UsageError
    where even that is too long.
    """
    form = _FORMS[project]
    arranged = replace(document, sections=_arranged(document, form))
    return IssueReport(f"{form.title_prefix}{document.title}", _fitting(arranged))


def _arranged(document: ReportDocument, form: _Form) -> tuple[Section, ...]:
    return tuple(
        Section(heading, _blocks(document, roles, form), tag=None)
        for heading, roles in form.headings
    )


def _blocks(
    document: ReportDocument, roles: tuple[SectionRole, ...], form: _Form
) -> tuple[Block, ...]:
    if not roles:
        return (Paragraph("(to be answered in the form)"),)
    blocks = [block for role in roles for block in _of_role(document, role, form)]
    return tuple(blocks) or (Paragraph("(nothing was recorded to play it again)"),)


def _of_role(document: ReportDocument, role: SectionRole, form: _Form) -> Iterator[Block]:
    if role is SectionRole.FINDING:
        yield Paragraph(document.summary)
        yield Paragraph(document.made_from)
    for section in document.sections:
        if section.role is role:
            yield Heading(section.title)
            yield from map(_lower, section.blocks)
    if role is SectionRole.ENVIRONMENT:
        yield Paragraph(f"The output of {form.ask_environment} on the server goes here:")
        yield Verbatim("(not recorded)")


def _lower(block: Block) -> Block:
    """A heading inside a section stands below the section's, which has become one itself."""
    return Paragraph(block.text) if isinstance(block, Heading) else block


def _fitting(document: ReportDocument) -> str:
    body = _body(document)
    while len(body) > MAX_BODY:
        document = replace(document, sections=_shorter(document.sections))
        body = _body(document)
    return body


def _body(document: ReportDocument) -> str:
    return to_markdown(document, section_level=3, with_head=False)


def _shorter(sections: Sequence[Section]) -> tuple[Section, ...]:
    """The longest text cut to its half; once all are short, the longest table."""
    blocks = [block for section in sections for block in section.blocks]
    texts = [block for block in blocks if isinstance(block, Verbatim)]
    tables = [block for block in blocks if isinstance(block, Table)]
    text = max(texts, key=lambda block: len(block.text), default=None)
    if text is not None and len(text.text) > _LEAST_KEPT:
        return _exchanged(sections, text, (_half_text(text),))
    table = max(tables, key=lambda block: len(block.rows), default=None)
    if table is not None and len(table.rows) > _LEAST_ROWS:
        return _exchanged(sections, table, _half_table(table))
    raise UsageError(
        f"the report does not fit into an issue ({MAX_BODY:,} characters): take a smaller scope, "
        "such as one arm or one session"
    )


def _exchanged(
    sections: Sequence[Section], old: Block, new: tuple[Block, ...]
) -> tuple[Section, ...]:
    return tuple(
        replace(
            section,
            blocks=tuple(
                each for block in section.blocks for each in (new if block is old else (block,))
            ),
        )
        for section in sections
    )


def _half_text(block: Verbatim) -> Verbatim:
    kept = len(block.text) // 2
    return Verbatim(f"{block.text[:kept]}\n{_CUT}")


def _half_table(table: Table) -> tuple[Block, ...]:
    kept = len(table.rows) // 2
    return (replace(table, rows=table.rows[:kept]), Paragraph(f"{_CUT} (rows of the table above)"))
