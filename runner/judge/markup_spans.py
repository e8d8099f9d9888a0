"""Markup in use and where it stands, and what the search for it needs to know."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from runner.judge.json_values import JsonObject
from runner.judge.markup_family import MarkupFamily
from runner.judge.markup_topic import Conversation
from runner.judge.record import ToolSpec

_MAX_SPAN_TEXT: Final = 500


@dataclass(frozen=True, slots=True)
class MarkupSpan:
    """Markup in use. `field` is content, reasoning or arguments:N; `text` is capped."""

    field: str
    start: int
    end: int
    family: str
    text: str

    def to_json(self) -> JsonObject:
        return {
            "field": self.field,
            "start": self.start,
            "end": self.end,
            "family": self.family,
            "text": self.text,
        }


@dataclass(frozen=True, slots=True)
class MarkupFindings:
    """Of one field. `has_quoted` and `has_template_tokens` are findings to count, not leaks."""

    spans: tuple[MarkupSpan, ...] = ()
    has_quoted: bool = False
    has_template_tokens: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkupQuestion:
    """What decides over all fields of one answer."""

    tools: Sequence[ToolSpec]
    families: Sequence[MarkupFamily]
    conversation: Conversation
    call_is_missing: bool
    """A call was due and no structured one came."""
    content_is_blank: bool


def markup_span(text: str, field: str, start: int, end: int, family: str) -> MarkupSpan:
    return MarkupSpan(field, start, end, family, text[start:end][:_MAX_SPAN_TEXT])
