"""A report document as PDF, set by typst; what the report says is handed over as data, never as
markup.

Only the fonts that come with typst are used, so that the same report gives the same bytes on every
machine. What they cannot show is named by its code point; full-width forms are shown as their ASCII
counterparts.
"""

import json
import re
from importlib.resources import files
from importlib.util import find_spec
from typing import Any

from runner.errors import UsageError
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
    plain,
    spans_of,
    with_texts,
)
from runner.report.drawings import svg_figure
from runner.report.visible_text import visible

PDF_MISSING = (
    "a PDF needs typst, which is not installed: pip install 'decisive-test[pdf]', or print the HTML"
)
_STYLE = (
    "text{font-family:'Libertinus Serif';font-size:13px;fill:#14181d}.label{text-anchor:end}"
    ".tick{font-size:11px;fill:#57606a;text-anchor:middle}.grid{stroke:#d8dce2;stroke-width:1}"
    ".clean{fill:#0072b2}.corrupt{fill:#d55e00}.silent{fill:#3b0f50}.ours{fill:#7a828e}"
    ".neutral{fill:#7a828e}.waiting{fill:#cdd2da}.span{opacity:.35}"
    ".of-run{fill:none;stroke:#57606a;stroke-width:1.2}"
)
# The scripts and symbols that the two fonts hold: Latin, Greek, Cyrillic, punctuation, arrows,
# mathematics, boxes and shapes. All else has no glyph there.
_NO_GLYPH = re.compile(
    "[^\n\t\x20-\u052f\u1e00-\u1fff\u2000-\u206f\u2070-\u209f\u20a0-\u20bf\u2100-\u214f"
    "\u2150-\u218f\u2190-\u23ff\u2500-\u26ff\u27e6-\u27eb]"
)
_FULL_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_UNIT = re.compile(r"(?<=\d) (?=(?:s|ms|min|h|%|points)\b|%)")
_LEAST_WIDTH, _MOST_WIDTH = 9, 34


def pdf_is_available() -> bool:
    return find_spec("typst") is not None


def to_pdf(document: ReportDocument) -> bytes:
    """Raises UsageError where typst is not installed."""
    try:
        import typst
    except ImportError:
        raise UsageError(PDF_MISSING) from None
    template = (files("runner.report") / "page.typ").read_bytes()
    made: bytes = typst.compile(
        template,
        format="pdf",
        ignore_system_fonts=True,
        sys_inputs={"report": json.dumps(pages(document), ensure_ascii=False)},
    )
    return made


def pages(document: ReportDocument) -> dict[str, Any]:
    """The report as the template reads it; public for the test that looks at single pages."""
    shown = with_texts(document, _shown)
    return {
        "title": shown.title,
        "summary": _spans(shown.summary, shown),
        "made_from": shown.made_from,
        "sections": [_section(section, shown) for section in shown.sections],
    }


def _shown(text: str) -> str:
    text = visible(text).translate(_FULL_WIDTH)
    return _NO_GLYPH.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)


def _section(section: Section, document: ReportDocument) -> dict[str, Any]:
    return {
        "title": section.title,
        "tag": None if section.tag is None else str(section.tag),
        "blocks": [_block(block, document) for block in section.blocks],
    }


def _block(block: Block, document: ReportDocument) -> dict[str, Any]:
    match block:
        case Heading():
            return {"kind": "heading", "spans": _spans(block.text, document)}
        case Paragraph():
            return {"kind": "paragraph", "spans": _spans(block.text, document)}
        case Verbatim():
            return {"kind": "verbatim", "text": block.text.rstrip()}
        case Table():
            return {
                "kind": "table",
                "header": list(block.header),
                "numeric": sorted(block.numeric),
                "widths": _widths(block),
                "rows": [[_spans(cell, document) for cell in row] for row in block.rows],
            }
        case RateFigure() | OutcomeFigure() | TurnFigure():
            svg = svg_figure(block, document, style=_STYLE)
            return {"kind": "figure", "svg": svg, "caption": block.caption}


def _spans(words: Words, document: ReportDocument) -> list[dict[str, Any]]:
    return [
        {"text": _together(span.text), "to": document.address(span)}
        if isinstance(span, Link)
        else {"text": _together(span)}
        for span in spans_of(words)
    ]


def _together(text: str) -> str:
    """No line ends between a number and its unit, or before the dot between two levels."""
    return _UNIT.sub("\u00a0", text).replace(" · ", "\u00a0· ")


def _widths(table: Table) -> list[int]:
    """Parts of the line: as long as the longest cell of a column, within limits."""
    columns = zip(table.header, *([plain(cell) for cell in row] for row in table.rows), strict=True)
    return [
        max(_LEAST_WIDTH, min(_MOST_WIDTH, max(len(cell) for cell in column))) for column in columns
    ]
