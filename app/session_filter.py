"""What a page makes of the filter in its address: scope, chips of outcomes, the way on; pure.

A chip is a shorthand for the `outcome:` term of the filter, so that both always say the same.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from db.errors import FilterError
from db.filters.keys import LOG_KEYS, SESSION_KEYS, Key
from db.filters.parsing import parse_filter
from db.filters.terms import Filter, Term, words_term
from db.reads.session_search import ListedSession
from db.vocabulary import Outcome, OutcomeClass

EVERY = "all"
CHIPS = (
    EVERY,
    *(OutcomeClass.CORRUPT, OutcomeClass.SILENT, OutcomeClass.CLEAN),
    *(Outcome(outcome) for outcome in Outcome),
)


@dataclass(frozen=True, slots=True)
class ReadFilter:
    """The filter of an address; where it cannot be read, `fault` says why and all pass."""

    filter: Filter
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Steps:
    """Where a session stands among those that pass; `position` counts from 1, None: it does not."""

    position: int | None
    total: int
    previous_id: int | None
    next_id: int | None


def read_session_filter(text: str) -> ReadFilter:
    return _read(text, SESSION_KEYS)


def read_log_filter(text: str) -> ReadFilter:
    return _read(text, LOG_KEYS)


def picked_chip(wanted: Filter) -> str | None:
    """The chip that says what the filter says of outcomes; None where no chip does."""
    terms = wanted.of("outcome")
    if not terms:
        return EVERY
    if len(terms) == 1 and not terms[0].is_negated and len(terms[0].words) == 1:
        return terms[0].words[0] if terms[0].words[0] in CHIPS else None
    return None


def with_chip(wanted: Filter, chip: str) -> Filter:
    """The filter with this chip's outcomes instead of those it asked for."""
    rest = wanted.without("outcome")
    return rest if chip == EVERY else Filter((words_term("outcome", [chip]), *rest.terms))


def chip_numbers(matched: Mapping[str, int]) -> dict[str, int]:
    """Sessions by chip; those without any are left out, except the chip of all."""
    numbers = {chip: _of_chip(chip, matched) for chip in CHIPS}
    return {chip: number for chip, number in numbers.items() if number or chip == EVERY}


def scoped(wanted: Filter, *scope: Term) -> str:
    """The filter with the scope of its page before it, as it stands in other pages' addresses."""
    return Filter(scope).also(*wanted.terms).text


def steps_among(places: Sequence[ListedSession], current: ListedSession) -> Steps:
    """The sessions before and after `current` in the list, whether or not it is in it itself."""
    before = [place for place in places if place.rank < current.rank]
    after = [place for place in places if place.rank > current.rank]
    is_in = len(before) + len(after) < len(places)
    return Steps(
        position=len(before) + 1 if is_in else None,
        total=len(places),
        previous_id=before[-1].id if before else None,
        next_id=after[0].id if after else None,
    )


def _of_chip(chip: str, matched: Mapping[str, int]) -> int:
    outcomes: Iterable[Outcome] = Outcome
    if chip != EVERY:
        outcomes = (word for word in Outcome if chip in (word, word.outcome_class))
    return sum(matched.get(outcome, 0) for outcome in outcomes)


def _read(text: str, keys: Mapping[str, Key]) -> ReadFilter:
    try:
        return ReadFilter(parse_filter(text, keys))
    except FilterError as error:
        return ReadFilter(Filter(), str(error))
