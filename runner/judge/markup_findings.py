"""Which markup in a text of the answer nobody asked for, and where it stands.

Joins the scan of the catalogue, the bare calls, the regions of the text and the conversation.
"""

from collections.abc import Iterator

from runner.judge.bare_calls import find_bare_calls
from runner.judge.markup_blocks import blocks_of
from runner.judge.markup_mention import is_named
from runner.judge.markup_quoting import is_bare_call_used, is_block_quoted
from runner.judge.markup_scan import MarkupMark, scan_marks, without_lone_supports
from runner.judge.markup_spans import MarkupFindings, MarkupQuestion, MarkupSpan, markup_span
from runner.judge.text_regions import RegionKind, TextRegions


def content_markup(text: str, question: MarkupQuestion) -> MarkupFindings:
    return _find(text, "content", question, prose=RegionKind.PROSE)


def reasoning_markup(text: str, question: MarkupQuestion) -> MarkupFindings:
    """As for content, but thinking may name marks and draft calls."""
    return _find(text, "reasoning", question, prose=RegionKind.THINK)


def _find(text: str, field: str, question: MarkupQuestion, *, prose: RegionKind) -> MarkupFindings:
    marks = without_lone_supports(scan_marks(text, question.families))
    bare_calls = find_bare_calls(text, question.tools)
    if not marks and not bare_calls:
        return MarkupFindings()
    regions = TextRegions(text, prose=prose)
    spans: list[MarkupSpan] = []
    has_quoted = False
    tool_marks = [mark for mark in marks if not mark.family.is_control]
    for block in blocks_of(text, tool_marks, regions, question=question):
        if is_block_quoted(text, block, question):
            has_quoted = True
        else:
            family = block.marks[0].family.id
            spans.append(markup_span(text, field, block.start, block.end, family))
    if not spans:
        for call in bare_calls:
            if is_bare_call_used(text, call, regions.at(call.start), question=question):
                spans.append(markup_span(text, field, call.start, call.end, call.form))
    return MarkupFindings(
        spans=tuple(spans),
        has_quoted=has_quoted,
        has_template_tokens=any(_template_residues(text, marks, regions)),
    )


def _template_residues(text: str, marks: list[MarkupMark], regions: TextRegions) -> Iterator[bool]:
    for mark in marks:
        if mark.family.is_control:
            is_code = regions.at(mark.start).kind in (RegionKind.FENCE, RegionKind.INLINE)
            yield not is_code and not is_named(text, mark.start, mark.end, tool_names=())
