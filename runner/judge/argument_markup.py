"""Which markup in the arguments of a call nobody asked for.

An argument may be a document, so markup that is balanced and belongs to the talk is its content;
closing tags that nothing opened are what a parser left behind.
"""

from collections.abc import Sequence

from runner.judge.json_values import NotJson, dump_json, parse_json, texts_in
from runner.judge.markup_mention import has_naming_cue, is_named
from runner.judge.markup_scan import MarkupMark, orphan_closers, scan_marks, without_lone_supports
from runner.judge.markup_spans import MarkupFindings, MarkupQuestion, MarkupSpan, markup_span
from runner.judge.markup_topic import Topic


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
    if conversation.topic is not Topic.NONE:
        return True
    if all(_is_talk(text, mark) for mark in marks):
        return True
    names_tool = any(tool.name and tool.name in text for tool in question.tools)
    return not names_tool and all(mark.is_support or mark.family.is_document_like for mark in marks)


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
