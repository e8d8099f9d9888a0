"""A report document as Markdown for any forge; what servers said cannot break out of it."""

import re
from urllib.parse import quote

from runner.report.document import (
    Block,
    Heading,
    Link,
    OutcomeFigure,
    Paragraph,
    RateFigure,
    ReportDocument,
    Section,
    Table,
    TurnFigure,
    Verbatim,
    Words,
    spans_of,
)
from runner.report.text_figures import text_figure
from runner.report.visible_text import one_line, visible

_FENCE = re.compile(r"`{3,}")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&])")
# What forges make of bare text: a link of an address, a notice to a person, a link to an issue.
_BARE_ADDRESS = re.compile(r":(?=//)|(?<=www)\.", re.IGNORECASE)
_MENTION = re.compile(r"@(?=\w)")
_REFERENCE = re.compile(r"\\#(?=\d)")
_NOTHING = "<!-- -->"
_ADDRESS_SAFE = ":/?=&%~.-_#@!$,;+"
# What begins a list, a quotation or a rule, at the beginning of a paragraph alone.
_BEGINS_BLOCK = re.compile(r"^([-+=]|\d+[.)](?=\s|$))")


def to_markdown(document: ReportDocument, *, section_level: int = 2, with_head: bool = True) -> str:
    """`section_level`: how deep the headings of sections are; without the head no title stands
    before them.
    """
    parts = [f"# {escaped(document.title)}", _paragraph(document.summary, document)]
    if document.made_from:
        parts.append(escaped(document.made_from))
    parts = parts if with_head else []
    parts += [_section(section, document, section_level) for section in document.sections]
    return "\n\n".join(part for part in parts if part) + "\n"


def escaped(text: str) -> str:
    """The text on one line, with nothing in it that Markdown, HTML or a forge would read."""
    text = _SPECIAL.sub(r"\\\1", one_line(text))
    text = _BARE_ADDRESS.sub(r"\\\g<0>", text)
    return _REFERENCE.sub(rf"\\#{_NOTHING}", _MENTION.sub(f"@{_NOTHING}", text))


def _section(section: Section, document: ReportDocument, level: int) -> str:
    head = f"{'#' * level} {escaped(section.title)}"
    tag = [f"_{section.tag}_"] if section.tag else []
    blocks = (_block(block, document, level + 1) for block in section.blocks)
    return "\n\n".join([head, *tag, *blocks])


def _block(block: Block, document: ReportDocument, level: int) -> str:
    match block:
        case Heading():
            return f"{'#' * level} {_inline(block.text, document)}"
        case Paragraph():
            return _paragraph(block.text, document)
        case Table():
            return _table(block, document)
        case Verbatim():
            return _fenced(block.text)
        case RateFigure() | OutcomeFigure() | TurnFigure():
            return f"{escaped(block.caption)}\n\n{_fenced(text_figure(block))}"


def _paragraph(words: Words, document: ReportDocument) -> str:
    text = _inline(words, document)
    begins = _BEGINS_BLOCK.match(text)
    if begins is None:
        return text
    cut = begins.end() - 1
    return f"{text[:cut]}\\{text[cut:]}"


def _inline(words: Words, document: ReportDocument) -> str:
    """Spans keep the spaces between them, which `escaped` would take from their ends."""
    return "".join(
        _link(span, document) if isinstance(span, Link) else _span(span) for span in spans_of(words)
    ).strip()


def _span(text: str) -> str:
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() else ""
    return f"{before}{escaped(text)}{after}" if text.strip() else before


def _link(link: Link, document: ReportDocument) -> str:
    address = document.address(link)
    if address is None:
        return escaped(link.text)
    return f"[{escaped(link.text)}]({quote(address, safe=_ADDRESS_SAFE)})"


def _table(table: Table, document: ReportDocument) -> str:
    rules = ["---:" if column in table.numeric else "---" for column in range(len(table.header))]
    lines = [
        _row(table.header, document),
        f"| {' | '.join(rules)} |",
        *(_row(row, document) for row in table.rows),
    ]
    return "\n".join(lines)


def _row(cells: tuple[Words, ...], document: ReportDocument) -> str:
    return f"| {' | '.join(_inline(cell, document) for cell in cells)} |"


def _fenced(text: str) -> str:
    """A fence longer than any in the text, so that the text cannot close it."""
    shown = visible(text).rstrip()
    longest = max((len(run) for run in _FENCE.findall(shown)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{shown}\n{fence}"
