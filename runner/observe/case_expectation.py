"""Holds what was found against what a recorded case expects, field by field; reads no log."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

NUMBER_TOLERANCE = 1e-6


def differing_fields(
    expected: Mapping[str, Any], found: Mapping[str, Any], *, without: Iterable[str] = ()
) -> list[str]:
    """One `name: found X, expected Y` for each expected field that is not so; extra ones may be."""
    left_out = set(without)
    return [
        f"{name}: {found.get(name)!r} for {value!r}"
        for name, value in expected.items()
        if name not in left_out and not is_same(found.get(name), value)
    ]


def is_same(found: Any, expected: Any) -> bool:
    """Numbers by value, so that 7.0 is 7; lists in any order."""
    if isinstance(expected, bool) or isinstance(found, bool):
        return found is expected
    if isinstance(expected, int | float) and isinstance(found, int | float):
        return abs(found - expected) <= NUMBER_TOLERANCE * max(1.0, abs(expected))
    if isinstance(expected, Sequence) and not isinstance(expected, str):
        return (
            isinstance(found, Sequence)
            and not isinstance(found, str)
            and sorted(map(str, found)) == sorted(map(str, expected))
        )
    return bool(found == expected)
