"""Which markup in the arguments of a call nobody asked for.

An argument may be a document, so markup that is balanced and belongs to the talk is its content;
closing tags that nothing opened are what a parser left behind.
"""

import re
from collections.abc import Sequence
from typing import Final

from runner.judge.json_values import NotJson, dump_json, parse_json, texts_in
from runner.judge.markup_mention import has_naming_cue, is_named
from runner.judge.markup_scan import (
    MarkupMark,
    is_balanced,
    orphan_closers,
    scan_marks,
    without_lone_supports,
)
from runner.judge.markup_spans import MarkupFindings, MarkupQuestion, MarkupSpan, markup_span
from runner.judge.markup_topic import Topic

_MOST_FRAMED: Final = 0.6
_PLAIN_TAG: Final = re.compile(r"</?[a-z]")


def argument_markup(arguments: str, number: int, question: MarkupQuestion) -> MarkupFindings:
    """The findings in the arguments of call `number`; offsets are those of the text as sent."""
    parsed = parse_json(arguments)
    texts = [arguments] if isinstance(parsed, NotJson) else texts_in(parsed)
    spans: list[MarkupSpan] = []
    has_quoted = has_template_tokens = False
    for text in texts:
        marks = without_lone_supports(scan_marks(text, question.families))
        tool_marks = [mark for mark in marks if not mark.family.is_control]
        has_template_tokens |= len(tool_marks) < len(marks)
        if not tool_marks:
            continue
        if _is_content(text, tool_marks, question):
            has_quoted = True
        else:
            spans.append(_span(arguments, text, tool_marks, number))
    return MarkupFindings(tuple(spans), has_quoted, has_template_tokens)


def _is_content(text: str, marks: Sequence[MarkupMark], question: MarkupQuestion) -> bool:
    conversation = question.conversation
    if conversation.holds(text) or conversation.holds(text[marks[0].start : marks[-1].end]):
        return True
    if orphan_closers(marks):
        return False
    if conversation.topic is not Topic.NONE or conversation.wants_form:
        return True
    if all(_is_talk(text, mark) for mark in marks):
        return True
    return _is_document(text, marks) and not any(
        tool.name and tool.name in text for tool in question.tools
    )


def _is_document(text: str, marks: Sequence[MarkupMark]) -> bool:
    """Whether XML-like tags stand in more text than they frame, or in a kind that documents use."""
    if all(mark.is_support or mark.family.is_document_like for mark in marks):
        return True
    framed = marks[-1].end - marks[0].start
    is_plain = all(_PLAIN_TAG.match(mark.text) for mark in marks)
    return is_plain and is_balanced(marks) and framed <= _MOST_FRAMED * len(text)


def _is_talk(text: str, mark: MarkupMark) -> bool:
    named = is_named(text, mark.start, mark.end, tool_names=())
    return named and has_naming_cue(text, mark.start, mark.end)


def _span(arguments: str, text: str, marks: Sequence[MarkupMark], number: int) -> MarkupSpan:
    """Maps a decoded text back to its place; the whole arguments where escapes hide it."""
    start, end = marks[0].start, marks[-1].end
    field, family = f"arguments:{number}", marks[0].family.id
    if text == arguments:
        return markup_span(arguments, field, start, end, family)
    sent = dump_json(text[start:end])[1:-1]
    place = arguments.find(sent)
    if place >= 0:
        return markup_span(arguments, field, place, place + len(sent), family)
    return markup_span(arguments, field, 0, len(arguments), family)
