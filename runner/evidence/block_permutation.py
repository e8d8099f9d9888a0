"""A test that trusts nothing but the shuffle: arm labels are exchanged inside each block only.

Drift from block to block cancels. With few blocks the smallest p-value it can give is large, and
the result says how large; knows nothing of why runs differ.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, prod

import numpy as np

from runner.evidence.run_rate_test import Cluster, arcsine_rate

MAX_EXACT_SHUFFLES = 20_000

_TIE_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True)
class Block:
    """The runs of one block, by arm."""

    first: tuple[Cluster, ...]
    second: tuple[Cluster, ...]

    @property
    def shuffles(self) -> int:
        return comb(len(self.first) + len(self.second), len(self.first))


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """`smallest_p` is the best that these blocks could have given."""

    p: float
    smallest_p: float
    exact: bool


def pair_by_block(
    first: Sequence[tuple[int, Cluster]], second: Sequence[tuple[int, Cluster]]
) -> tuple[Block, ...]:
    """From runs with the number of their block; blocks that lack an arm are left out."""
    numbers = sorted({block for block, _ in first} & {block for block, _ in second})
    return tuple(
        Block(
            tuple(cluster for block, cluster in first if block == number),
            tuple(cluster for block, cluster in second if block == number),
        )
        for number in numbers
    )


def permutation_less(
    blocks: Sequence[Block], *, rng: np.random.Generator, draws: int = 9_999
) -> PermutationTest:
    """One-sided p-value for a lower mean arcsine rate in the first arm.

    Every shuffle is tried up to MAX_EXACT_SHUFFLES; beyond, `draws` random ones, counted with the
    one observed (Phipson & Smyth, Stat. Appl. Genet. Mol. Biol. 9, 2010).
    """
    useful = [block for block in blocks if block.first and block.second]
    if not useful:
        return PermutationTest(1.0, 1.0, True)
    rates = [np.array([arcsine_rate(*c) for c in (*b.first, *b.second)]) for b in useful]
    sizes = [len(block.first) for block in useful]
    observed = sum(float(r[:size].sum()) for r, size in zip(rates, sizes, strict=True))
    limit = observed + _TIE_TOLERANCE * (1 + abs(observed))
    shuffles = prod(block.shuffles for block in useful)
    if shuffles <= MAX_EXACT_SHUFFLES:
        sums = list(_all_sums(rates, sizes))
        p = sum(total <= limit for total in sums) / len(sums)
        return PermutationTest(p, 1 / shuffles, True)
    drawn = _drawn_sums(rates, sizes, draws=draws, rng=rng)
    p = (1 + int((drawn <= limit).sum())) / (1 + draws)
    return PermutationTest(p, 1 / (1 + draws), False)


def _all_sums(rates: Sequence[np.ndarray], sizes: Sequence[int]) -> Iterator[float]:
    """Of the first arm's rates, for every choice of who is in the first arm."""
    choices = [
        [float(sum(chosen)) for chosen in combinations(block, size)]
        for block, size in zip(rates, sizes, strict=True)
    ]
    return (sum(parts) for parts in product(*choices))


def _drawn_sums(
    rates: Sequence[np.ndarray], sizes: Sequence[int], *, draws: int, rng: np.random.Generator
) -> np.ndarray:
    total = np.zeros(draws)
    for block, size in zip(rates, sizes, strict=True):
        order = rng.permuted(np.tile(block, (draws, 1)), axis=1)
        total += order[:, :size].sum(axis=1)
    return total
