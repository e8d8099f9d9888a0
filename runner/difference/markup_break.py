"""Where a tool call that came as text stops being the call that was due; pure.

The call's own words are looked for in the order in which any markup has to write them: the
function's name, then each parameter's name and its value. Knows no markup family.
"""

import json
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

_OPENS_NAME = re.compile(r"""name["']?\s*[=:]\s*["']|<function=|functions?\.""")


class MarkupPlace(StrEnum):
    """The first of a call's own words that is not where it should be."""

    FUNCTION_NAME = "function name"
    PARAMETER_NAME = "parameter name"
    PARAMETER_VALUE = "parameter value"
    FRAME = "frame"  # every word of the call is there: what surrounds them was not taken


class MarkupBreak(NamedTuple):
    """`character` counts in the text, up to where the call was as it was due."""

    place: MarkupPlace
    character: int


def markup_break(text: str, name: str, arguments: Mapping[str, Any]) -> MarkupBreak:
    """`name` and `arguments` are those of the call that was due."""
    called = _word(name).search(text)
    if called is None:
        opening = _OPENS_NAME.search(text)
        return MarkupBreak(MarkupPlace.FUNCTION_NAME, opening.end() if opening else 0)
    reached = called.end()
    for key, value in arguments.items():
        named = _word(key).search(text, called.end() - 1)
        if named is None:
            return MarkupBreak(MarkupPlace.PARAMETER_NAME, reached)
        written = _value_at(text, value, named.end() - 1)
        if written is None:
            return MarkupBreak(MarkupPlace.PARAMETER_VALUE, named.end())
        reached = max(reached, written)
    return MarkupBreak(MarkupPlace.FRAME, reached)


def _word(word: str) -> re.Pattern[str]:
    """Whole, between marks of markup."""
    return re.compile(rf"""(?<![\w.-]){re.escape(word)}(?![\w.-])""")


def _value_at(text: str, value: Any, start: int) -> int | None:
    """The end of the value as text or as JSON, from `start` on."""
    forms = [json.dumps(value, ensure_ascii=False)]
    if isinstance(value, str):
        forms = [value, forms[0][1:-1]]
    ends = [place + len(form) for form in forms if (place := text.find(form, start)) >= 0]
    return min(ends, default=None)
