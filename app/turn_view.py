"""One stored turn as its page shows it: what was asked, what was due, what came, what is wrong.

Reads the stored JSON and believes none of it: a field of another shape is left out, never an error.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.leak_marking import Span
from db.reads.sessions import TurnFacts
from db.vocabulary import DueKind

_SUM = "total"
# How the markup families name the function that is called.
_CALLED_NAME = re.compile(
    r"""invoke\s+name=["'](?P<dsml>[^"'<>]*)["']|"name"\s*:\s*"(?P<json>[^"]*)"|"""
    r"""<function=(?P<tag>[^<>]*)>"""
)


@dataclass(frozen=True, slots=True)
class CamePart:
    """One field of the answer: its name, its text, and what in it should not be there."""

    field: str
    text: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class TurnView:
    """`asked_by` is "User" or "Tool result"; `due` and the parts are text for code blocks."""

    due_title: str
    asked_by: str
    asked: str
    due: str
    came: tuple[CamePart, ...]


def view_turn(turn: TurnFacts) -> TurnView:
    asked_by, asked = _asked(turn.context)
    return TurnView(
        due_title=_due_title(turn.due),
        asked_by=asked_by,
        asked=asked,
        due=due_text(turn.due),
        came=_came(turn),
    )


def due_text(due: Mapping[str, Any]) -> str:
    """The call or the words that the dialogue had a right to, as text; "" where it knows none."""
    kind = due.get("kind")
    if kind == DueKind.CALL:
        return call_text(due.get("name"), due.get("arguments"))
    if kind == DueKind.ANSWER:
        wanted = due.get("must_contain")
        return "\n".join(map(str, wanted)) if isinstance(wanted, list) else ""
    return ""


def call_text(name: object, arguments: object) -> str:
    """`name(parameter = "value", ...)`; arguments that are no object stand as they came."""
    try:
        return f"{name}({_pairs_text(arguments)})"
    except (ValueError, RecursionError):  # no JSON, or nested deeper than can be followed
        return f"{name}({arguments})"


def _pairs_text(arguments: object) -> str:
    told = json.loads(arguments) if isinstance(arguments, str) else arguments
    if not isinstance(told, Mapping):
        return "" if told is None else str(told)
    return ", ".join(
        f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in told.items()
    )


def cached_by_source(cached: Mapping[str, Any]) -> dict[str, int]:
    """Cached prompt tokens by where they came from; zeros and the sum are left out."""
    return {
        str(source): int(tokens)
        for source, tokens in cached.items()
        if source != _SUM
        and isinstance(tokens, int | float)
        and not isinstance(tokens, bool)
        and tokens > 0
    }


def _due_title(due: Mapping[str, Any]) -> str:
    kind = due.get("kind")
    if kind == DueKind.CALL:
        return f"call {due.get('name')} due"
    return "answer due" if kind == DueKind.ANSWER else "nothing known to be due"


def _asked(context: Mapping[str, Any]) -> tuple[str, str]:
    prior = context.get("prior")
    last = prior[-1] if isinstance(prior, list) and prior else None
    if isinstance(last, Mapping) and last.get("role") == "tool":
        return "Tool result", str(last.get("text") or "")
    return "User", str(context.get("user") or "")


def _came(turn: TurnFacts) -> tuple[CamePart, ...]:
    got = turn.got
    parts = [
        CamePart(field, text, _spans(turn, field))
        for field in ("reasoning", "content")
        if (text := got.get(field)) and isinstance(text, str)
    ]
    calls = got.get("tool_calls")
    for index, call in enumerate(calls if isinstance(calls, list) else []):
        if isinstance(call, Mapping):
            spans = _spans(turn, "arguments") if index == 0 else ()
            parts.append(_call_part(call, spans))
    error = got.get("in_band_error") or got.get("error")
    if error:
        text = error if isinstance(error, str) else json.dumps(error, ensure_ascii=False)
        parts.append(CamePart("error", text))
    return tuple(parts)


def _call_part(call: Mapping[str, Any], spans: tuple[Span, ...]) -> CamePart:
    """The call in one line, or its arguments as they came where something in them is marked."""
    if not spans:
        return CamePart("tool_calls", call_text(call.get("name"), call.get("arguments")))
    return CamePart(f"tool_calls: {call.get('name')}", str(call.get("arguments") or ""), spans)


def _spans(turn: TurnFacts, field: str) -> tuple[Span, ...]:
    found = []
    for span in turn.markup:
        if not isinstance(span, Mapping) or not str(span.get("field", "")).startswith(field):
            continue
        start, end = span.get("start"), span.get("end")
        if isinstance(start, int) and isinstance(end, int) and 0 <= start <= end:
            found.append(Span(start, end, f"{span.get('family', 'tool-call')} markup as text"))
            found += _wrong_names(turn, str(turn.got.get(field) or "")[start:end], start)
    return tuple(found)


def _wrong_names(turn: TurnFacts, markup: str, offset: int) -> list[Span]:
    """Where the markup calls a function that was not offered, or not the one that was due."""
    tools = turn.context.get("tools")
    known = tools if isinstance(tools, list) else []
    offered = {str(tool.get("name")) for tool in known if isinstance(tool, Mapping)}
    due = turn.due.get("name") if turn.due.get("kind") == DueKind.CALL else None
    found = []
    for match in _CALLED_NAME.finditer(markup):
        name, (start, end) = match[match.lastgroup or 0], match.span(match.lastgroup or 0)
        if offered and name not in offered:
            found.append(Span(offset + start, offset + end, "no such tool in this session"))
        elif due is not None and name != due:
            found.append(Span(offset + start, offset + end, f"{due} was due"))
    return found
