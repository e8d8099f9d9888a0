"""Whether a trait goes with an event inside strata: the exact conditional test; pure.

Inside a stratum (a run at one turn, say) only the margins are taken as given, so what differs
between strata cannot make an association. Under no association the number of events with the trait
is hypergeometric in each stratum, and their sum is compared with what was seen (Birch, JRSS B 26,
1964; Gart, Int. Stat. Rev. 39, 1971; what R's `mantelhaen.test(exact = TRUE)` computes).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from runner.evidence.hypergeometric import tables_of_margins

_TIE_TOLERANCE = 1e-7


@dataclass(frozen=True, slots=True)
class Stratum:
    """A 2x2 table: events with the trait, events, those with the trait, and all."""

    events_with: int
    events: int
    with_trait: int
    total: int

    def __post_init__(self) -> None:
        low = max(0, self.events + self.with_trait - self.total)
        if not low <= self.events_with <= min(self.events, self.with_trait):
            raise ValueError(f"no such table: {self}")

    @property
    def tells(self) -> bool:
        """Whether another number of events with the trait would have been possible."""
        return 0 < self.events < self.total and 0 < self.with_trait < self.total


@dataclass(frozen=True, slots=True)
class Association:
    """`odds_ratio` is that of Mantel and Haenszel (1959), None where it is 0/0.

    `p_more` is one-sided, for more events with the trait; `smallest_p` is the least that these
    margins could have given. `strata` counts those that tell.
    """

    odds_ratio: float | None
    p_more: float
    p_two_sided: float
    smallest_p: float
    strata: int


def stratified_association(strata: Sequence[Stratum]) -> Association:
    """No telling stratum gives p = 1."""
    telling = [stratum for stratum in strata if stratum.tells]
    weights, lowest = _distribution(telling)
    seen = sum(stratum.events_with for stratum in telling) - lowest
    at_seen = weights[seen]
    as_rare = weights[weights <= at_seen * (1 + _TIE_TOLERANCE)]
    return Association(
        odds_ratio=_odds_ratio(strata),
        p_more=min(1.0, float(weights[seen:].sum())),
        p_two_sided=min(1.0, float(as_rare.sum())),
        smallest_p=float(weights[-1]),
        strata=len(telling),
    )


def _distribution(strata: Sequence[Stratum]) -> tuple[np.ndarray, int]:
    """Probabilities of the sum under no association, from its lowest possible value on."""
    weights, lowest = np.ones(1), 0
    for stratum in strata:
        without_trait = stratum.total - stratum.with_trait
        tables = tables_of_margins(stratum.with_trait, without_trait, stratum.events)
        weights, lowest = np.convolve(weights, tables.probabilities), lowest + tables.lowest
    return weights, lowest


def _odds_ratio(strata: Sequence[Stratum]) -> float | None:
    above = below = 0.0
    for each in strata:
        without = each.events - each.events_with
        others_with = each.with_trait - each.events_with
        others_without = each.total - each.events - others_with
        if each.total:
            above += each.events_with * others_without / each.total
            below += without * others_with / each.total
    if below == 0:
        return inf if above else None
    return above / below
