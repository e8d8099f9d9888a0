"""A report document as Markdown for any forge; what servers said cannot break out of it."""

import re

from runner.report.document import Block, Paragraph, ReportDocument, Section, Table, Verbatim

_FENCE = re.compile(r"`{3,}")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def to_markdown(document: ReportDocument) -> str:
    parts = [f"# {escaped(document.title)}", escaped(document.summary)]
    parts += [_section(section) for section in document.sections]
    return "\n\n".join(parts) + "\n"


def escaped(text: str) -> str:
    """The text on one line, with nothing in it that Markdown or HTML would read."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def _section(section: Section) -> str:
    head = f"## {escaped(section.title)}\n\n_{section.tag}_"
    return "\n\n".join([head, *(_block(block) for block in section.blocks)])


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            return escaped(block.text)
        case Table():
            return _table(block)
        case Verbatim():
            return _fenced(block.text)


def _table(table: Table) -> str:
    rules = ["---:" if column in table.numeric else "---" for column in range(len(table.header))]
    lines = [_row(table.header), f"| {' | '.join(rules)} |", *(_row(row) for row in table.rows)]
    return "\n".join(lines)


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(escaped(cell) for cell in cells)} |"


def _fenced(text: str) -> str:
    """A fence longer than any in the text, so that the text cannot close it."""
    longest = max((len(run) for run in _FENCE.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text.rstrip()}\n{fence}"
