"""Two looks at a growing comparison, planned before it starts; for moderate effects.

Each look spends a part of alpha that was fixed beforehand, so that looking early costs little:
0.02 after two runs an arm and 0.03 after four keep the whole below 0.05.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from runner.evidence.lower_rate import lower_rate
from runner.evidence.run_rate_test import Cluster


@dataclass(frozen=True, slots=True)
class Look:
    """Taken when both arms have this many runs."""

    runs: int
    alpha: float


@dataclass(frozen=True, slots=True)
class LookResult:
    look: Look
    p: float

    @property
    def is_lower(self) -> bool:
        return self.p <= self.look.alpha


TWO_LOOKS = (Look(runs=2, alpha=0.02), Look(runs=4, alpha=0.03))


def looks_p(
    first: Sequence[Cluster],
    second: Sequence[Cluster],
    *,
    rho: float,
    looks: Sequence[Look] = TWO_LOOKS,
) -> float:
    """One p-value for all looks that could be taken: each look's, weighed by its share of alpha.

    It is at most alpha exactly where a look found the first arm lower (weighted Bonferroni), and 1
    before the first look.
    """
    alpha = sum(look.alpha for look in looks)
    taken = looks_taken(first, second, rho=rho, looks=looks)
    return min([1.0, *(each.p * alpha / each.look.alpha for each in taken)])


def looks_taken(
    first: Sequence[Cluster],
    second: Sequence[Cluster],
    *,
    rho: float,
    looks: Sequence[Look] = TWO_LOOKS,
) -> tuple[LookResult, ...]:
    """The looks whose runs are there, up to the first that found the first arm lower.

    A look reads the first runs of each arm and no later ones: what came after must not change it.
    """
    taken: list[LookResult] = []
    for look in looks:
        if min(len(first), len(second)) < look.runs or (taken and taken[-1].is_lower):
            break
        p = lower_rate(first[: look.runs], second[: look.runs], rho=rho).p
        taken.append(LookResult(look, p))
    return tuple(taken)
