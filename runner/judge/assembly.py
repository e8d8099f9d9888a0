"""Reassembles the chunks of a stream, or one body, into the message that was meant.

Knows the OpenAI chat completion format and its many departures; it does not judge.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from runner.judge.assembled_message import AssembledCall, AssembledMessage, InBandError, Usage
from runner.judge.call_joining import CallJoiner
from runner.judge.chunk_reading import (
    cached_tokens_of,
    carries_text,
    choices_of,
    content_of,
    error_of,
    reasoning_of,
    usage_of,
)
from runner.judge.event_stream import ServerSentEvent
from runner.judge.flags import Flag
from runner.judge.json_values import NOT_JSON, JsonObject, parse_json, whole_characters
from runner.judge.plain_chunk import PlainDelta

_END_OF_STREAM: Final = "[DONE]"
# transformers serve puts its parser's words in unescaped, and the line ends in the middle of them.
_BROKEN_ERROR: Final = re.compile(r'\{\s*"error"\s*:')


def carries_progress(chunk: JsonObject) -> bool:
    """Whether the chunk holds a token of content, reasoning or a call.

    A role, an empty text, a finish reason and usage are no progress.
    """
    return carries_text(choices_of(chunk))


def event_carries_progress(event: ServerSentEvent) -> bool:
    """`carries_progress` for an event as it came."""
    chunk = parse_json(event.data)
    return isinstance(chunk, dict) and carries_text(choices_of(chunk))


class MessageAssembler:
    """Add events or parsed chunks in order; `message` may be read at any time."""

    def __init__(self) -> None:
        self._choices: dict[int, _Choice] = {}
        self._faults: list[Flag] = []
        self._usage = Usage()
        self._cached_tokens: dict[str, int] = {}
        self._error: InBandError | None = None
        self._done = False
        self._has_choices = False
        self._ends_inside_event = False

    def add(self, event: ServerSentEvent) -> bool:
        """Reads one event of a stream; true if it carried progress."""
        data = event.data.strip()
        if not data:
            return False
        if self._done:
            self._note(Flag.DATA_AFTER_DONE)
            return False
        if data == _END_OF_STREAM:
            self._done = True
            return False
        chunk = parse_json(data)
        if isinstance(chunk, dict):
            return self.add_chunk(chunk, event=event.event)
        if event.event == "error":
            self._error = self._error or InBandError(message=data[:2000])
        elif chunk is NOT_JSON and not event.is_finished:
            self._ends_inside_event = True
        else:
            self._note(Flag.UNREADABLE_CHUNK)
            if _BROKEN_ERROR.match(data):
                self._error = self._error or InBandError(message=data[:2000])
        return False

    def add_plain(self, delta: PlainDelta) -> None:
        """A token of the first choice, as `add` would have read it; only before `is_done`."""
        self._has_choices = True
        self._choice(0).add_plain(delta)

    def add_plain_texts(self, texts: Sequence[str], *, field: str) -> None:
        """As `add_plain`: tokens with a text in this one field of theirs, none of them empty."""
        self._has_choices = True
        self._choice(0).add_plain_texts(texts, field=field)

    @property
    def is_done(self) -> bool:
        """[DONE] was read: what comes after it is a fault."""
        return self._done

    def add_chunk(self, chunk: JsonObject, *, event: str = "message") -> bool:
        """Reads one parsed chunk or whole body; true if it carried progress."""
        choices = choices_of(chunk)
        self._error = self._error or error_of(chunk, choices, event=event)
        self._usage = usage_of(chunk) or self._usage
        self._cached_tokens |= cached_tokens_of(chunk, choices)
        self._has_choices = self._has_choices or isinstance(chunk.get("choices"), list)
        for choice in choices:
            index = choice.get("index")
            number = index if isinstance(index, int) else 0
            self._choice(number).add(choice)
        return carries_text(choices)

    @property
    def message(self) -> AssembledMessage:
        """The first choice; others are counted as a fault, since one answer was asked for."""
        if len(self._choices) > 1:
            self._note(Flag.SEVERAL_CHOICES)
        choice = self._choices[min(self._choices)] if self._choices else _Choice()
        faults = [*self._faults, *choice.faults(), *choice.calls.faults]
        reasons = tuple(map(whole_characters, choice.finish_reasons))
        return AssembledMessage(
            content=whole_characters("".join(choice.content)),
            reasoning=whole_characters(choice.reasoning()),
            refusal=whole_characters("".join(choice.refusal)),
            tool_calls=choice.joined_calls(),
            finish_reason=reasons[-1] if reasons else None,
            finish_reasons=reasons,
            done=self._done,
            usage=self._usage,
            cached_tokens=dict(self._cached_tokens),
            in_band_error=self._error and self._error.in_whole_characters(),
            has_choices=self._has_choices,
            ends_inside_event=self._ends_inside_event,
            faults=tuple(dict.fromkeys(faults)),
        )

    def _choice(self, number: int) -> "_Choice":
        if (choice := self._choices.get(number)) is None:
            choice = self._choices[number] = _Choice()
        return choice

    def _note(self, fault: Flag) -> None:
        if fault not in self._faults:
            self._faults.append(fault)


class _Choice:
    def __init__(self) -> None:
        self.content: list[str] = []
        self.refusal: list[str] = []
        self.finish_reasons: list[str] = []
        self.calls = CallJoiner()
        self._legacy_calls = CallJoiner()
        self._reasoning: list[str] = []
        self._reasoning_by_field: dict[str, list[str]] = {}

    def add(self, choice: JsonObject) -> None:
        delta, message = choice.get("delta"), choice.get("message")
        if isinstance(delta, dict):
            self._add_message(delta, is_whole=False)
        elif isinstance(message, dict) and self._is_empty():
            self._add_message(message, is_whole=True)
        reason = choice.get("finish_reason")
        if isinstance(reason, dict):
            reason = reason.get("type")
        if reason is not None and reason != "":
            self.finish_reasons.append(reason if isinstance(reason, str) else str(reason))

    def add_plain(self, delta: PlainDelta) -> None:
        if delta.content:
            self.content.append(delta.content)
        if delta.reasoning_content or delta.reasoning:
            texts = {
                "reasoning_content": delta.reasoning_content or "",
                "reasoning": delta.reasoning or "",
            }
            self._add_reasoning({name: text for name, text in texts.items() if text})

    def add_plain_texts(self, texts: Sequence[str], *, field: str) -> None:
        if field == "content":
            self.content += texts
        else:
            self._reasoning_by_field.setdefault(field, []).extend(texts)
            self._reasoning += texts

    def faults(self) -> list[Flag]:
        found = []
        if len(self.finish_reasons) > 1:
            found.append(Flag.DOUBLE_FINISH)
        if self._legacy_calls.joined():
            found.append(Flag.LEGACY_FUNCTION_CALL)
        if self.refusal:
            found.append(Flag.REFUSAL)
        return found

    def joined_calls(self) -> tuple[AssembledCall, ...]:
        calls = self.calls.joined() or self._legacy_calls.joined()
        return tuple(
            replace(
                call,
                name=whole_characters(call.name),
                arguments=whole_characters(call.arguments),
                id=whole_characters(call.id),
            )
            for call in calls
        )

    def reasoning(self) -> str:
        """One text where several fields carried the same one."""
        texts = ["".join(pieces) for pieces in self._reasoning_by_field.values()]
        longest = max(texts, key=len, default="")
        if all(longest.startswith(text) for text in texts):
            return longest
        return "".join(self._reasoning)

    def _add_message(self, message: JsonObject, *, is_whole: bool) -> None:
        if text := content_of(message):
            self.content.append(text)
        if isinstance(refusal := message.get("refusal"), str) and refusal:
            self.refusal.append(refusal)
        self._add_reasoning(reasoning_of(message))
        calls = message.get("tool_calls")
        if isinstance(calls, list) and calls:
            (self.calls.add_whole_calls if is_whole else self.calls.add_fragments)(calls)
        legacy = message.get("function_call")
        if isinstance(legacy, dict):
            self._legacy_calls.add_fragments([{"index": 0, "function": legacy}])

    def _add_reasoning(self, texts: dict[str, str]) -> None:
        for name, text in texts.items():
            self._reasoning_by_field.setdefault(name, []).append(text)
        self._reasoning.extend(dict.fromkeys(texts.values()))

    def _is_empty(self) -> bool:
        return not (self.content or self.calls.joined() or self._reasoning)
