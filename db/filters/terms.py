"""What a filter says once it is read: terms that must all hold; pure.

`Filter.text` writes it back, so that an address, a command line and a text field hold the same.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

TEXT = "text"
"""The key of a term that looks for words; it is written without a key, in quotation marks."""

_PLAIN = re.compile(r"[^\s\",:<>=!\\-][^\s\",\\]*")


class Comparison(StrEnum):
    AT_LEAST = ">="
    AT_MOST = "<="
    ABOVE = ">"
    BELOW = "<"
    EQUAL = "="


@dataclass(frozen=True, slots=True)
class Bound:
    """A number that a value is compared with."""

    number: float
    comparison: Comparison = Comparison.EQUAL

    def admits(self, value: float) -> bool:
        match self.comparison:
            case Comparison.AT_LEAST:
                return value >= self.number
            case Comparison.AT_MOST:
                return value <= self.number
            case Comparison.ABOVE:
                return value > self.number
            case Comparison.BELOW:
                return value < self.number
            case Comparison.EQUAL:
                return value == self.number

    @property
    def text(self) -> str:
        sign = "" if self.comparison is Comparison.EQUAL else self.comparison
        return f"{sign}{self.number:.15g}"


@dataclass(frozen=True, slots=True)
class Term:
    """One condition: any of its `values` holds, or none of them where it is negated."""

    key: str
    values: tuple[str | Bound, ...]
    is_negated: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(value for value in self.values if isinstance(value, str))

    @property
    def bounds(self) -> tuple[Bound, ...]:
        return tuple(value for value in self.values if isinstance(value, Bound))

    @property
    def text(self) -> str:
        sign = "-" if self.is_negated else ""
        if self.key == TEXT:
            return sign + quoted(self.words[0])
        return f"{sign}{self.key}:{','.join(_written(value) for value in self.values)}"


@dataclass(frozen=True, slots=True)
class Filter:
    """Terms that must all hold; without terms everything passes."""

    terms: tuple[Term, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(term.text for term in self.terms)

    def of(self, *keys: str) -> tuple[Term, ...]:
        return tuple(term for term in self.terms if term.key in keys)

    def without(self, *keys: str) -> "Filter":
        return Filter(tuple(term for term in self.terms if term.key not in keys))

    def also(self, *terms: Term) -> "Filter":
        """With these terms besides; one that is there already is not said twice."""
        return Filter(tuple(dict.fromkeys((*self.terms, *terms))))


def words_term(key: str, words: Iterable[str]) -> Term:
    return Term(key, tuple(words))


def number_term(key: str, number: float) -> Term:
    return Term(key, (Bound(number),))


def quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _written(value: str | Bound) -> str:
    if isinstance(value, Bound):
        return value.text
    return value if _PLAIN.fullmatch(value) else quoted(value)
