"""One stored turn as two texts, what was asked and what came, in a form that can be compared.

Reads stored JSON and believes none of it: a field of another shape counts as absent. What differs
at every request without meaning anything, such as the ids of calls, is left out.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from db.reads.sessions import TurnFacts
from db.vocabulary import Outcome, OutcomeClass

_SUM = "total"


@dataclass(frozen=True, slots=True)
class AnswerField:
    """`name` is `reasoning`, `content` or `call N`."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class StructuredCall:
    """`arguments` is empty where they are no JSON object."""

    name: str
    arguments: Mapping[str, Any]
    text: str


def asked_of(turn: TurnFacts) -> str:
    """The user's words and what had been said since, as one text; "" where none was kept."""
    context = turn.context
    said = [str(context.get("user") or "")]
    prior = context.get("prior")
    for message in prior if isinstance(prior, list) else []:
        if isinstance(message, Mapping):
            calls = json.dumps(message.get("calls") or [], ensure_ascii=False, sort_keys=True)
            said.append(f"{message.get('role')}: {message.get('text') or ''} {calls}")
    return "\n".join(said)


def answer_of(turn: TurnFacts) -> tuple[AnswerField, ...]:
    """In the order in which models write: reasoning, content, calls. Empty fields are left out."""
    fields = [
        AnswerField(name, text)
        for name in ("reasoning", "content")
        if isinstance(text := turn.got.get(name), str) and text
    ]
    calls = enumerate(calls_of(turn), start=1)
    return (*fields, *(AnswerField(f"call {number}", call.text) for number, call in calls))


def calls_of(turn: TurnFacts) -> tuple[StructuredCall, ...]:
    calls = turn.got.get("tool_calls")
    listed = calls if isinstance(calls, list) else []
    return tuple(_call(call) for call in listed if isinstance(call, Mapping))


def is_silent(turn: TurnFacts) -> bool:
    """It brought no whole answer."""
    if turn.outcome is None:
        return False
    return Outcome(turn.outcome).outcome_class in (OutcomeClass.SILENT, OutcomeClass.OURS)


def cached_by_source(turn: TurnFacts) -> dict[str, int]:
    """Prompt tokens that the server says it took from a cache, by source; without its details the
    sum stands alone as `total`.
    """
    return sources_of(turn.cached_tokens)


def sources_of(cached: Mapping[str, Any]) -> dict[str, int]:
    numbers = {
        str(source): int(tokens)
        for source, tokens in cached.items()
        if isinstance(tokens, int | float) and not isinstance(tokens, bool)
    }
    return numbers if set(numbers) <= {_SUM} else {k: n for k, n in numbers.items() if k != _SUM}


def _call(call: Mapping[str, Any]) -> StructuredCall:
    name, arguments = str(call.get("name")), call.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return StructuredCall(name, _object_of(text), f"{name}({text})")


def _object_of(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
