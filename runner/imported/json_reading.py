"""Reads fields of foreign JSON: a field of another kind than it should be is absent; pure."""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

Object = Mapping[str, Any]

_LONGEST_S = 1e8
_EARLIEST_S, _LATEST_S = 1e9, 4e9  # 2001 to 2096
_MOST = 2**53


def number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = float(value)
    except OverflowError:  # JSON's whole numbers have no end
        return None
    return found if isfinite(found) else None


def count(value: object) -> int | None:
    found = number(value)
    return None if found is None or not 0 <= found <= _MOST else int(found)


def seconds(value: object) -> float | None:
    """A span of time; what no run can have lasted is none."""
    found = number(value)
    return None if found is None or not 0 <= found <= _LONGEST_S else found


def epoch_s(value: object) -> float | None:
    """A moment in seconds since the epoch; milliseconds and nanoseconds are told by their size."""
    found = number(value)
    for unit in (1.0, 1e3, 1e6, 1e9):
        if found is not None and _EARLIEST_S <= found / unit <= _LATEST_S:
            return found / unit
    return None


def text(value: object) -> str | None:
    """What no text may hold, half of a surrogate pair, is shown as a question mark."""
    if not isinstance(value, str):
        return None
    return value.encode("utf-8", "replace").decode("utf-8")


def objects(value: object) -> list[Object]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def inner(value: object, *path: str) -> Any:
    """What lies under the path, or None."""
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def columns(whole: Object, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Lists of equal length under `names` as rows by our names; rows end with the longest list."""
    found = {ours: whole.get(theirs) for ours, theirs in names.items()}
    lists: dict[str, Sequence[Any]] = {k: v for k, v in found.items() if isinstance(v, list)}
    for place in range(max((len(each) for each in lists.values()), default=0)):
        yield {ours: each[place] if place < len(each) else None for ours, each in lists.items()}


def scalars(whole: Object) -> dict[str, Any]:
    """The fields that hold one value; what others could not read as a number, as `inf` or a whole
    one of hundreds of digits, is its text.
    """
    plain = str | int | float | bool
    return {str(k): _sayable(v) for k, v in whole.items() if isinstance(v, plain)}


def _sayable(value: str | int | float | bool) -> str | int | float | bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number and number(value) is None else value
