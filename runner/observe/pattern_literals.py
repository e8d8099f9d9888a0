"""Which fixed texts a pattern cannot match without, so that most lines need not be tried."""

import re
from collections.abc import Iterable
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

SHORTEST = 7


def required_literals(pattern: str) -> frozenset[str]:
    """One of these stands in every text that the pattern matches; each has 7 characters or more.

    Raises ValueError where there is no such set, or where the pattern is none.
    """
    try:
        tree = parser.parse(pattern)
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from error
    if tree.state.flags & re.IGNORECASE:
        raise ValueError("must not ignore the case of letters: write (?:A|a)")
    found = _of_sequence(tree)
    if found is None:
        raise ValueError(f"has an alternative without {SHORTEST} fixed characters in a row")
    return found


def _of_sequence(items: Iterable[Any]) -> frozenset[str] | None:
    """The best of the sets that the parts of a sequence offer, or None."""
    best: frozenset[str] | None = None
    run: list[str] = []
    for code, argument in [*items, (None, None)]:
        if code is codes.LITERAL:
            run.append(chr(argument))
            continue
        best = _better(best, _of_run(run))
        run = []
        best = _better(best, _of_part(code, argument))
    return best


def _of_part(code: Any, argument: Any) -> frozenset[str] | None:
    if code is codes.SUBPATTERN:
        return _of_sequence(argument[3])
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT) and argument[0] > 0:
        return _of_sequence(argument[2])
    if code is codes.BRANCH:
        branches = [_of_sequence(branch) for branch in argument[1]]
        if all(branch is not None for branch in branches):
            return frozenset(text for branch in branches if branch for text in branch)
    return None


def _of_run(run: list[str]) -> frozenset[str] | None:
    return frozenset({"".join(run)}) if len(run) >= SHORTEST else None


def _better(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    """The set whose shortest text is the longest; among those the smaller set."""
    if one is None or other is None:
        return one or other
    return max((one, other), key=lambda texts: (min(map(len, texts)), -len(texts)))
