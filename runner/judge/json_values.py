"""JSON as values: the types, and a parser that answers instead of raising.

Knows nothing of chat completions.
"""

import json
from typing import Final, NoReturn, TypeAlias

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
JsonObject: TypeAlias = dict[str, Json]


class NotJson:
    """What `parse_json` returns for text that is no JSON; `None` is a JSON value."""


NOT_JSON: Final = NotJson()


def parse_json(text: str | bytes) -> Json | NotJson:
    """The one JSON value that `text` holds, else NOT_JSON. NaN and Infinity are no JSON.

    Text nested deeper than the interpreter can follow, and numbers of thousands of digits, count
    as no JSON too.
    """
    try:
        value: Json = _DECODER.decode(text if isinstance(text, str) else text.decode("utf-8"))
    except (ValueError, RecursionError):
        return NOT_JSON
    return value


def parse_json_prefix(text: str, start: int = 0) -> tuple[Json | NotJson, int]:
    """The JSON value that starts exactly at `start` and the offset behind it."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return NOT_JSON, start
    return value, end


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_reject_constant)
