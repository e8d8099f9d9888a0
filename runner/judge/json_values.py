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


def dump_json(value: Json) -> str:
    """Compact enough to read, in its own characters; "" for what is nested too deep to write."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return ""


def texts_in(value: Json) -> list[str]:
    """Every text in the value, keys included, in no particular order.

    Walks without recursion, since a server may nest as deep as it likes.
    """
    found: list[str] = []
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str() as text:
                found.append(text)
            case list() as items:
                waiting += reversed(items)
            case dict() as fields:
                waiting += reversed(fields.values())
                found += fields
    return found


def has_duplicate_key(text: str) -> bool:
    """Whether an object in the JSON `text` names a key twice, of which a parser keeps the last."""
    found: list[bool] = []

    def note(pairs: list[tuple[str, Json]]) -> None:
        found.append(len({key for key, _ in pairs}) < len(pairs))

    try:
        json.loads(text, object_pairs_hook=note)
    except (ValueError, RecursionError):
        return False
    return any(found)


def whole_characters(text: str) -> str:
    """Joins surrogate halves, which JSON can name; a lone half is no text and becomes U+FFFD."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(parse_constant=_reject_constant)
