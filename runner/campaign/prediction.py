"""What a hypothesis predicts: criteria on counts, as a small grammar; knows no counts itself.

prediction = criterion { "and" criterion }
criterion  = name ( "==" | "<=" | "<" ) integer
name       = an outcome | "corrupt" | "silent" | "wedges"
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from db.vocabulary import Outcome

CORRUPT, SILENT, WEDGES = "corrupt", "silent", "wedges"
# Our own faults say nothing about the server, so nothing can be predicted of them.
COUNT_NAMES: tuple[str, ...] = (
    CORRUPT,
    SILENT,
    WEDGES,
    *(outcome for outcome in Outcome if outcome is not Outcome.HARNESS_ERROR),
)
MAX_LIMIT = 10**9


class Comparison(StrEnum):
    EQUAL = "=="
    AT_MOST = "<="
    BELOW = "<"


@dataclass(frozen=True, slots=True)
class Criterion:
    """One condition on one count."""

    name: str
    comparison: Comparison
    limit: int

    def __str__(self) -> str:
        return f"{self.name} {self.comparison} {self.limit}"

    def is_exceeded_by(self, count: int) -> bool:
        """Whether `count` breaks it for good: counts only grow."""
        return count >= self.limit if self.comparison is Comparison.BELOW else count > self.limit

    def is_unreached_by(self, count: int) -> bool:
        """Whether `count` would break it if nothing more could come."""
        return self.comparison is Comparison.EQUAL and count < self.limit


@dataclass(frozen=True, slots=True)
class Prediction:
    criteria: tuple[Criterion, ...]

    def __str__(self) -> str:
        return " and ".join(str(criterion) for criterion in self.criteria)


class PredictionError(ValueError):
    """The text is no prediction. `offset` counts characters from its start, from 0."""

    def __init__(self, what: str, *, offset: int, found: str, allowed: tuple[str, ...]) -> None:
        super().__init__(what)
        self.what = what
        self.offset = offset
        self.found = found
        self.allowed = allowed


def parse_prediction(text: str) -> Prediction:
    """Raises PredictionError at the first word that does not fit."""
    tokens = _tokens_of(text)
    criteria: list[Criterion] = []
    while True:
        criteria.append(_criterion_of(tokens))
        connective = tokens.pop(0)
        if not connective.word:
            return Prediction(tuple(criteria))
        if connective.word != "and":
            raise _misfit("criteria are joined by and", connective, ("and",))


class _Token(NamedTuple):
    word: str  # empty at the end of the text
    offset: int


def _tokens_of(text: str) -> list[_Token]:
    matches = re.finditer(r"\w+|[=<>!]+|\S", text)
    return [*(_Token(match[0], match.start()) for match in matches), _Token("", len(text))]


def _criterion_of(tokens: list[_Token]) -> Criterion:
    name = _expect(tokens, "a criterion starts with the name of a count", COUNT_NAMES)
    comparison = _expect(tokens, "a count is compared by ==, <= or <", tuple(Comparison))
    number = tokens[0]
    if not re.fullmatch(r"[0-9]{1,10}", number.word, re.ASCII) or int(number.word) > MAX_LIMIT:
        raise _misfit("a count is compared with a whole number", number, ())
    if comparison.word == Comparison.BELOW and int(number.word) == 0:
        raise _misfit("no count is below 0, so this can never hold", number, ())
    tokens.pop(0)
    return Criterion(name.word, Comparison(comparison.word), int(number.word))


def _expect(tokens: list[_Token], what: str, allowed: tuple[str, ...]) -> _Token:
    token = tokens[0]
    if token.word not in allowed:
        raise _misfit(what, token, allowed)
    if token.word:
        tokens.pop(0)
    return token


def _misfit(what: str, token: _Token, allowed: tuple[str, ...]) -> PredictionError:
    found = token.word or "the end"
    return PredictionError(what, offset=token.offset, found=found, allowed=allowed)
