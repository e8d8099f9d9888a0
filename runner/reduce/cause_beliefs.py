"""How likely each set of factors is the cause, from the arms that were tried. Pure.

The cause is taken for one set of factors: an arm flips if it has all of them. Sets are bits of an
integer, factor 0 the lowest. What a lean says is believed but for a small doubt, so that arms which
contradict each other rule nothing out for good.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from runner.reduce.standing import Standing

Change: TypeAlias = frozenset[str]
"""The factors that have the level of the failing arm; all others have that of the clean one."""

_DOUBT = 0.02


class Likeliest(NamedTuple):
    change: Change
    probability: float


@dataclass(frozen=True, slots=True)
class Beliefs:
    """`probabilities[bits]` of the non-empty subsets of `factors`; that of 0 is 0."""

    factors: tuple[str, ...]
    probabilities: npt.NDArray[np.float64]

    @property
    def likeliest(self) -> Likeliest:
        bits = int(np.argmax(self.probabilities))
        return Likeliest(_change_of(bits, self.factors), float(self.probabilities[bits]))

    def probability_that_flips(self, change: Change) -> float:
        return float(self.probabilities[_is_within(_bits_of(change, self.factors), self)].sum())

    def nested_changes(self) -> tuple[Change, ...]:
        """The likeliest factor, the two likeliest, and so on; never none and never all."""
        has = (np.arange(len(self.probabilities))[:, None] >> np.arange(len(self.factors))) & 1
        marginals = self.probabilities @ has
        order = sorted(
            range(len(self.factors)), key=lambda at: (-round(float(marginals[at]), 9), at)
        )
        return tuple(
            frozenset(self.factors[at] for at in order[:size]) for size in range(1, len(order))
        )


def beliefs_within(
    failing: Change, factors: Sequence[str], known: Mapping[Change, Standing]
) -> Beliefs:
    """The cause is a part of `failing`. All sets of s factors begin with a weight of 2^-s together:
    few factors are likelier than many.
    """
    inside = tuple(name for name in factors if name in failing)
    sizes = [bits.bit_count() for bits in range(1 << len(inside))]
    weights = np.array([0.0, *(2.0**-s / comb(len(inside), s) for s in sizes[1:])])
    beliefs = Beliefs(inside, weights)
    for change, stands in known.items():
        holds = _is_within(_bits_of(change, inside), beliefs)
        if stands.seems_to_flip:
            weights = weights * np.where(holds, 1 - _DOUBT, _DOUBT)
        elif stands.seems_clean or stands is Standing.UNDECIDED:
            weights = weights * np.where(holds, _DOUBT, 1 - _DOUBT)
        elif stands is Standing.BARRED and change < failing:
            # Nobody can try it, so that it will never be shown to be the cause.
            weights[_bits_of(change, inside)] = 0.0
    return Beliefs(inside, weights / weights.sum())


def _is_within(bits: int, beliefs: Beliefs) -> npt.NDArray[np.bool_]:
    """Which sets have no factor outside of `bits`."""
    outside: npt.NDArray[np.bool_] = (np.arange(len(beliefs.probabilities)) & ~bits) == 0
    return outside


def _bits_of(change: Change, factors: Sequence[str]) -> int:
    return sum(1 << at for at, name in enumerate(factors) if name in change)


def _change_of(bits: int, factors: Sequence[str]) -> Change:
    return frozenset(name for at, name in enumerate(factors) if bits >> at & 1)
