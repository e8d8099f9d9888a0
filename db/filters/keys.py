"""The keys of a filter, for sessions and for log events: what each is about and what it takes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from db.filters.terms import Bound, Comparison
from db.identifiers import IdKind, parse_id
from db.vocabulary import ErrorReason, Outcome, OutcomeClass, RunFlag, RunState

_NUMBER = re.compile(r"(>=|<=|>|<|=)?(-?\d{1,15}(?:\.\d{1,6})?)")


class UnfitValueError(ValueError):
    """The value is none that the key takes; the text says what it takes."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key that takes any name; `about` says which property it is about."""

    name: str
    about: str

    def read(self, value: str) -> str | Bound:
        """Raises UnfitValueError."""
        if not value:
            raise UnfitValueError(f"{self.name}: needs a value after the colon")
        return value


@dataclass(frozen=True, slots=True)
class WordKey(Key):
    """A key that takes the words of a closed list."""

    among: tuple[str, ...] = ()

    def read(self, value: str) -> str:
        word = value.lower()
        if word in self.among:
            return word
        near = get_close_matches(word, self.among, n=1)
        guess = f"; did you mean {near[0]}?" if near else ""
        raise UnfitValueError(f"{self.name}: takes {', '.join(self.among)}{guess}")


@dataclass(frozen=True, slots=True)
class NumberKey(Key):
    """A key that takes a number, compared or equal: 80, >=60, <2.5; an id may bear its letter."""

    id_kind: IdKind | None = None

    def read(self, value: str) -> Bound:
        row_id = parse_id(self.id_kind, value) if self.id_kind else None
        if row_id is not None:
            return Bound(row_id)
        match = _NUMBER.fullmatch(value)
        if match is None:
            example = f"{self.id_kind}-12 or 12" if self.id_kind else "80, >=60 or <2.5"
            raise UnfitValueError(f"{self.name}: takes a number such as {example}")
        return Bound(float(match[2]), Comparison(match[1] or "="))


def _keys(*keys: Key) -> Mapping[str, Key]:
    return {key.name: key for key in keys}


OUTCOME_WORDS = tuple(dict.fromkeys([*map(str, Outcome), *map(str, OutcomeClass)]))

SESSION_KEYS = _keys(
    WordKey("outcome", "outcome, or class of outcomes", OUTCOME_WORDS),
    WordKey("reason", "reason for silence", tuple(map(str, ErrorReason))),
    Key("flag", "flags that the judge set"),
    NumberKey("turn", "turn that decided it, counted from 1"),
    NumberKey("rounds", "rounds completed"),
    NumberKey("ttft", "seconds to the first token"),
    NumberKey("duration", "seconds from start to end"),
    NumberKey("tokens", "completion tokens"),
    NumberKey("prompt", "prompt tokens"),
    NumberKey("cached", "tokens that were cached on the host"),
    Key("dialogue", "dialogue"),
    NumberKey("session", "id", IdKind.SESSION),
    NumberKey("run", "run", IdKind.RUN),
    NumberKey("block", "block"),
    WordKey("state", "state of the run", tuple(map(str, RunState))),
    WordKey("runflag", "flags of the run", tuple(map(str, RunFlag))),
    Key("arm", "arm: its id, or words of its name in their order, such as hicache=on"),
    Key("level", "level of a factor, such as hicache=on"),
    NumberKey("c", "concurrency"),
    Key("campaign", "campaign: its id or name"),
)

LOG_KEYS = _keys(
    Key("kind", "kind of event"),
    Key("class", "class of event"),
    Key("service", "service that wrote it"),
    Key("request", "request that the line names"),
    NumberKey("t", "seconds since the first request of the run"),
)
