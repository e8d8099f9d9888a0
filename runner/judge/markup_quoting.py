"""When markup is shown and not used: asked for, cited, or said before by someone else.

The rules decide by what the text is and by the conversation, never by which case it came from.
"""

from typing import Final

from runner.judge.bare_calls import BareCall
from runner.judge.markup_blocks import Block
from runner.judge.markup_spans import MarkupQuestion
from runner.judge.markup_topic import Conversation, Topic
from runner.judge.text_regions import Region, RegionKind

_MAX_CITED: Final = 4000
_TOOL_CODE: Final = "tool_code"


def is_block_quoted(text: str, block: Block, question: MarkupQuestion) -> bool:
    conversation, region = question.conversation, block.region
    if _is_verbatim(text, block, conversation):
        return True
    match region.kind:
        case RegionKind.INLINE:
            return not (block.names_tool and _is_unasked_whole(text, region, question))
        case RegionKind.FENCE:
            if conversation.topic is Topic.FORM:
                return True
            if block.names_tool and _is_unasked_whole(text, region, question):
                return False
            begins = not text[region.body_start : block.start].strip()
            is_call = block.names_tool or (begins and len(block.marks) > 1)
            return not (is_call and question.call_is_missing)
        case _:
            if question.call_is_missing:
                return False
            is_lone = len(block.marks) == 1 and not block.names_tool
            return conversation.topic >= (Topic.CALLS if is_lone else Topic.FORM)


def is_bare_call_used(
    text: str, call: BareCall, region: Region, *, question: MarkupQuestion
) -> bool:
    conversation = question.conversation
    if conversation.holds(text[call.start : call.end]):
        return False
    match region.kind:
        case RegionKind.INLINE:
            return _is_unasked_whole(text, region, question)
        case RegionKind.FENCE:
            return _is_fenced_call(text, call, region, question=question)
        case RegionKind.THINK:
            is_last = not text[call.end :].strip(" \t\n]};`")
            return question.call_is_missing and question.content_is_blank and is_last
        case _:
            return _is_call_in_prose(text, call, question)


def _is_call_in_prose(text: str, call: BareCall, question: MarkupQuestion) -> bool:
    is_on_own_line = call.begins_line and call.ends_line
    if call.form == "pythonic" and not is_on_own_line:
        return question.call_is_missing and text[call.start] == "["
    if question.call_is_missing:
        return True
    is_in_sentence = not call.begins_line and not call.ends_line
    return not is_in_sentence and not _wants_calls_shown(question)


def _is_fenced_call(text: str, call: BareCall, region: Region, *, question: MarkupQuestion) -> bool:
    """Whether a fence holds this call and nothing else, and nobody asked to see one."""
    if question.conversation.topic is Topic.FORM:
        return False
    body = text[region.body_start : region.body_end]
    begins = not text[region.body_start : call.start].strip("[ \t\n")
    ends = len(text[call.end : region.body_end].strip()) <= len(body) // 3
    if not (begins and ends):
        return False
    is_due = question.call_is_missing or region.label == _TOOL_CODE
    return is_due or _is_unasked_whole(text, region, question)


def _is_unasked_whole(text: str, region: Region, question: MarkupQuestion) -> bool:
    """Whether the answer is nothing but this code, which stands where a call or a text belongs."""
    if not region.is_all_of(text):
        return False
    return question.call_is_missing or not _wants_calls_shown(question)


def _wants_calls_shown(question: MarkupQuestion) -> bool:
    conversation = question.conversation
    return conversation.topic is not Topic.NONE or conversation.wants_data


def _is_verbatim(text: str, block: Block, conversation: Conversation) -> bool:
    line_start = text.rfind("\n", 0, block.start) + 1
    line_end = text.find("\n", block.end)
    lines = text[line_start : line_end if line_end >= 0 else len(text)]
    has_company = block.end - block.start < len(lines.strip()) <= _MAX_CITED
    if has_company and conversation.holds(lines):
        return True
    is_single = len(block.marks) == 1 and block.region.kind is not RegionKind.FENCE
    return not is_single and conversation.holds(text[block.start : block.end])
