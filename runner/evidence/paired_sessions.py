"""The same dialogues in two arms: which of them changed; knows the pairs, not the runs.

Sessions of one run stay correlated, so that this finds *which* dialogues flipped and never decides
a verdict.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from scipy.special import bdtr

from db.vocabulary import OutcomeClass


@dataclass(frozen=True, slots=True)
class PairedSessions:
    """Dialogues that gave evidence in both arms, by what they were; `silent_pairs` did not."""

    both_clean: int
    both_corrupt: int
    only_first_corrupt: int
    only_second_corrupt: int
    silent_pairs: int

    @property
    def discordant(self) -> int:
        return self.only_first_corrupt + self.only_second_corrupt


def pair_sessions(
    first: Mapping[str, OutcomeClass], second: Mapping[str, OutcomeClass]
) -> PairedSessions:
    """By dialogue key. A dialogue missing or ours in one arm is no pair."""
    seen: dict[tuple[OutcomeClass, OutcomeClass], int] = {}
    for key in first.keys() & second.keys():
        pair = first[key], second[key]
        seen[pair] = seen.get(pair, 0) + 1
    clean, corrupt = OutcomeClass.CLEAN, OutcomeClass.CORRUPT
    silent = [
        n
        for pair, n in seen.items()
        if OutcomeClass.SILENT in pair and OutcomeClass.OURS not in pair
    ]
    return PairedSessions(
        both_clean=seen.get((clean, clean), 0),
        both_corrupt=seen.get((corrupt, corrupt), 0),
        only_first_corrupt=seen.get((corrupt, clean), 0),
        only_second_corrupt=seen.get((clean, corrupt), 0),
        silent_pairs=sum(silent),
    )


def mcnemar_less(pairs: PairedSessions) -> float:
    """One-sided exact p-value for fewer corrupt dialogues in the first arm.

    Given the discordant pairs, those corrupt in the first arm only are Binomial(d, 1/2)
    (McNemar, Psychometrika 12, 1947; exact form: Cochran, Biometrika 37, 1950).
    """
    return float(bdtr(pairs.only_first_corrupt, pairs.discordant, 0.5))


def mcnemar_less_worst_case(pairs: PairedSessions) -> float:
    """The same with every silent pair counted against the claim."""
    against = pairs.only_first_corrupt + pairs.silent_pairs
    return float(bdtr(against, pairs.discordant + pairs.silent_pairs, 0.5))


def mcnemar_two_sided(pairs: PairedSessions) -> float:
    """Twice the smaller tail, at most 1."""
    smaller = min(pairs.only_first_corrupt, pairs.only_second_corrupt)
    return min(1.0, 2 * float(bdtr(smaller, pairs.discordant, 0.5)))
