from itertools import product

import numpy as np
import pytest
from scipy.stats import permutation_test

from runner.evidence.block_permutation import Block, pair_by_block, permutation_less
from runner.evidence.run_rate_test import Cluster, arcsine_rate


def blocks(after: list[int], before: list[int]) -> list[Block]:
    return [Block((Cluster(a, 80),), (Cluster(b, 80),)) for a, b in zip(after, before, strict=True)]


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def test_it_is_the_exact_paired_permutation_of_scipy() -> None:
    after, before = [2, 9, 4, 3, 7], [12, 8, 14, 11, 9]
    a, b = ([arcsine_rate(k, 80) for k in arm] for arm in (after, before))
    right = permutation_test(
        (a, b),
        lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis),
        permutation_type="samples",
        alternative="less",
        n_resamples=np.inf,
        vectorized=True,
    )

    result = permutation_less(blocks(after, before), rng=rng())

    assert result.exact
    assert result.p == pytest.approx(right.pvalue)


def test_few_blocks_say_how_little_they_could_have_shown() -> None:
    result = permutation_less(blocks([0, 0, 0], [40, 40, 40]), rng=rng())

    assert result.p == result.smallest_p == 1 / 8


def test_several_runs_of_an_arm_in_a_block_are_exchanged_together() -> None:
    block = Block((Cluster(0, 80), Cluster(1, 80)), (Cluster(9, 80), Cluster(8, 80)))

    assert permutation_less([block], rng=rng()).p == 1 / 6


def test_a_drift_between_blocks_cancels() -> None:
    rates = [40, 30, 20, 10, 5, 1]
    drifting = blocks([k - 1 for k in rates], rates)

    assert permutation_less(drifting, rng=rng()).p == 1 / 64


def test_many_blocks_are_sampled_and_close_to_the_exact_answer() -> None:
    generator = np.random.default_rng(7)
    after, before = generator.integers(3, 12, 16), generator.integers(4, 14, 16)
    sampled = permutation_less(blocks(list(after), list(before)), rng=rng(), draws=20_000)
    differences = np.array(
        [arcsine_rate(a, 80) - arcsine_rate(b, 80) for a, b in zip(after, before, strict=True)]
    )
    signs = np.array(list(product((1, -1), repeat=16)))
    exact = float((signs @ differences <= differences.sum() + 1e-12).mean())

    assert not sampled.exact
    assert sampled.p == pytest.approx(exact, abs=0.01)


def test_a_block_with_one_arm_only_is_no_comparison() -> None:
    assert permutation_less([Block((Cluster(0, 80),), ())], rng=rng()).p == 1.0


def test_runs_are_paired_by_the_number_of_their_block() -> None:
    a, b, c = Cluster(1, 80), Cluster(2, 80), Cluster(3, 80)

    paired = pair_by_block([(2, a), (1, b)], [(1, c), (3, a)])

    assert paired == (Block((b,), (c,)),)
