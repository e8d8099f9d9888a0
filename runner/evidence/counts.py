"""How many sessions ended how, read by the campaign's own list of what counts as corrupt.

Three denominators, always: all sessions, those that gave evidence, and the bounds if the silent
ones had all been clean or all corrupt. Sessions that we failed ourselves are in none of them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from db.vocabulary import CORRUPT_OUTCOMES, Outcome, OutcomeClass
from runner.evidence.rates import Rate, RateBounds


@dataclass(frozen=True, slots=True)
class SessionCounts:
    """`by_outcome` may lack outcomes that did not occur. Raises ValueError for a negative number.

    An outcome of the corrupt class that `counts_as_corrupt` lacks is evidence, and not corrupt: on
    a weak model `no_tool` can be the model's own.
    """

    by_outcome: Mapping[Outcome, int] = field(hash=False)
    counts_as_corrupt: frozenset[Outcome] = frozenset(CORRUPT_OUTCOMES)

    def __post_init__(self) -> None:
        for outcome, number in self.by_outcome.items():
            if number < 0:
                raise ValueError(f"{outcome} cannot have occurred {number} times")

    def __getitem__(self, outcome: Outcome) -> int:
        return self.by_outcome.get(outcome, 0)

    @property
    def all(self) -> int:
        """All sessions that say something about the server, if only that it fell silent."""
        return sum(self.by_outcome.values()) - self.harness_errors

    @property
    def corrupt(self) -> int:
        return sum(self[outcome] for outcome in self.counts_as_corrupt)

    @property
    def silent(self) -> int:
        return self._of_class(OutcomeClass.SILENT)

    @property
    def gave_evidence(self) -> int:
        return self.all - self.silent

    @property
    def not_corrupt(self) -> int:
        """Gave evidence, and none of what counts as corrupt."""
        return self.gave_evidence - self.corrupt

    @property
    def harness_errors(self) -> int:
        return self._of_class(OutcomeClass.OURS)

    @property
    def uncounted(self) -> dict[Outcome, int]:
        """Seen outcomes of the corrupt class that do not count as corrupt here."""
        return {
            outcome: number
            for outcome, number in self.by_outcome.items()
            if number
            and outcome.outcome_class is OutcomeClass.CORRUPT
            and outcome not in self.counts_as_corrupt
        }

    @property
    def corrupt_of_all(self) -> Rate | None:
        return _rate(self.corrupt, self.all)

    @property
    def corrupt_of_evidence(self) -> Rate | None:
        return _rate(self.corrupt, self.gave_evidence)

    @property
    def silent_of_all(self) -> Rate | None:
        return _rate(self.silent, self.all)

    @property
    def bounds(self) -> RateBounds | None:
        """The corrupt rate if all silent sessions had been clean, and if all had been corrupt."""
        if self.all == 0:
            return None
        return RateBounds(Rate(self.corrupt, self.all), Rate(self.corrupt + self.silent, self.all))

    def _of_class(self, outcome_class: OutcomeClass) -> int:
        return sum(self[outcome] for outcome in Outcome if outcome.outcome_class is outcome_class)


def counted(
    by_outcome: Mapping[str, int] | Mapping[Outcome, int],
    *,
    corrupt: Iterable[str] = CORRUPT_OUTCOMES,
) -> SessionCounts:
    """From words as the store keeps them. Raises ValueError for a word that is no outcome."""
    outcomes = {Outcome(word): number for word, number in by_outcome.items()}
    return SessionCounts(outcomes, frozenset(Outcome(word) for word in corrupt))


def pooled(
    counts: Iterable[SessionCounts], *, corrupt: Iterable[str] = CORRUPT_OUTCOMES
) -> SessionCounts:
    """The sum over runs. Only for showing: runs, not sessions, were assigned to arms."""
    totals = dict.fromkeys(Outcome, 0)
    for each in counts:
        for outcome, number in each.by_outcome.items():
            totals[outcome] += number
    return SessionCounts(totals, frozenset(Outcome(word) for word in corrupt))


def _rate(count: int, of: int) -> Rate | None:
    return Rate(count, of) if of else None
