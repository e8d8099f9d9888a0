"""Whether the text of an answer is language, and whether all tokens that were billed arrived."""

from dataclasses import dataclass
from typing import Final

from runner.judge.assembled_message import AssembledMessage
from runner.judge.flags import Flag
from runner.judge.garble import garble_signs, has_replacement_characters
from runner.judge.markup_topic import Conversation

MIN_SWALLOWED_TOKENS: Final = 4
"""An end token and a stray one may be billed for an answer that is rightly empty."""
SWALLOWED_SLACK: Final = 16


@dataclass(frozen=True, slots=True)
class TextQuality:
    """`is_swallowed`: tokens were billed and nothing at all arrived."""

    flags: tuple[Flag, ...]
    is_garbled: bool
    is_loop: bool
    is_swallowed: bool
    sentence: str = ""


def judge_text(message: AssembledMessage, conversation: Conversation) -> TextQuality:
    flags: list[Flag] = []
    text = message.content or message.reasoning
    arguments = [call.arguments for call in message.tool_calls]
    signs = [
        sign
        for part in (text, *arguments)
        for sign in garble_signs(part, conversation_text=conversation.text)
    ]
    everything = "\n".join((message.content, message.reasoning, *arguments))
    if signs:
        flags.append(Flag.GARBLED)
    if has_replacement_characters(everything, conversation_text=conversation.text):
        flags.append(Flag.REPLACEMENT_CHARACTER)
    is_empty = not everything.strip() and not message.refusal and not message.tool_calls
    billed = _billed_for_text(message)
    is_swallowed = is_empty and billed >= MIN_SWALLOWED_TOKENS
    if is_empty and message.finish_reason is not None:
        flags.append(Flag.EMPTY_ANSWER)
    elif not message.tool_calls and billed > len(everything) + SWALLOWED_SLACK:
        flags.append(Flag.TEXT_SWALLOWED)
    sentence = ""
    if signs:
        sentence = f"the text is garbled ({', '.join(dict.fromkeys(signs))})"
    elif is_swallowed:
        sentence = f"{billed} tokens were billed and nothing arrived"
    return TextQuality(tuple(flags), bool(signs), "a loop" in signs, is_swallowed, sentence)


def _billed_for_text(message: AssembledMessage) -> int:
    """Completion tokens without those of hidden reasoning; 0 where the server did not say."""
    billed = message.usage.completion_tokens or 0
    return billed if message.reasoning else billed - (message.usage.reasoning_tokens or 0)
