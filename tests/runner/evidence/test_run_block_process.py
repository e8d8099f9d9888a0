import numpy as np
import pytest

from runner.evidence.run_block_process import (
    DEFAULT_ALTERNATIVES,
    RunPair,
    e_table,
    largest_expectation,
    run_block_e_value,
)

FINE_RATES = np.concatenate([np.geomspace(1e-4, 0.05, 80), np.linspace(0.05, 1.0, 300)])


@pytest.mark.parametrize("alternative", DEFAULT_ALTERNATIVES)
@pytest.mark.parametrize("rho_max", [0.02, 0.05])
def test_its_expectation_is_at_most_one_at_every_shared_rate_and_correlation(
    alternative: tuple[float, float], rho_max: float
) -> None:
    table = e_table(80, 80, alternative, rho_max)

    largest = max(
        largest_expectation(table, FINE_RATES, rho=float(rho)) for rho in np.linspace(0, rho_max, 7)
    )

    assert 0.5 < largest <= 1.0


@pytest.mark.parametrize("sizes", [(40, 80), (80, 40), (80, 7), (160, 80)])
def test_runs_of_different_size_keep_the_guarantee(sizes: tuple[int, int]) -> None:
    table = e_table(*sizes, (0.01, 0.15), 0.05)

    assert table.shape == (sizes[0] + 1, sizes[1] + 1)
    correlations = np.linspace(0, 0.05, 7)
    assert max(largest_expectation(table, FINE_RATES, rho=float(r)) for r in correlations) <= 1.0


def test_single_sessions_come_to_the_e_value_of_independent_ones() -> None:
    """Two Bernoulli arms: the projection on equal rates is their mean, here 0.08."""
    table = e_table(1, 1, (0.01, 0.15), 0.0)
    exact = np.outer([0.99, 0.01], [0.85, 0.15]) / np.outer([0.92, 0.08], [0.92, 0.08])

    law = np.outer([0.99, 0.01], [0.85, 0.15])
    growth, most = (float((law * np.log(e)).sum()) for e in (table, exact))
    assert growth == pytest.approx(most, abs=2e-3)


def test_a_perfect_change_is_shown_after_two_pairs_and_one_pair_never_decides() -> None:
    pair = RunPair(0, 80, 12, 80)

    assert run_block_e_value([pair]) < 20 <= run_block_e_value([pair] * 2)
    assert run_block_e_value([pair], rho_max=0.02) > 20


def test_evidence_multiplies_and_the_other_direction_has_none() -> None:
    pairs = [RunPair(0, 80, 12, 80), RunPair(1, 80, 14, 80)]
    one = ((0.01, 0.15),)

    together = run_block_e_value(pairs, alternatives=one)

    apart = [run_block_e_value([pair], alternatives=one) for pair in pairs]
    assert together == pytest.approx(apart[0] * apart[1])
    assert run_block_e_value([RunPair(12, 80, 0, 80)]) < 0.05


def test_no_pair_is_no_evidence_either_way() -> None:
    assert run_block_e_value([]) == 1.0


def test_more_corruption_in_the_first_arm_never_strengthens_the_claim() -> None:
    e_values = [run_block_e_value([RunPair(k, 80, 12, 80)]) for k in range(13)]

    assert e_values == sorted(e_values, reverse=True)


@pytest.mark.parametrize("rho", [0.0, 0.05])
def test_watching_eight_pairs_rarely_shows_what_is_not_there(rho: float) -> None:
    rng = np.random.default_rng(17)
    false = 0
    for _ in range(400):
        rates = np.full((8, 2), 0.15) if rho == 0 else rng.beta(2.85, 16.15, (8, 2))
        counts = rng.binomial(80, rates)
        pairs = [RunPair(int(a), 80, int(b), 80) for a, b in counts]
        false += any(run_block_e_value(pairs[:n]) >= 20 for n in range(1, 9))

    assert false / 400 <= 0.03


@pytest.mark.parametrize(("sizes", "rho_max"), [((10, 12), 0.05), ((12, 10), 0.3), ((9, 9), 0.0)])
def test_a_small_table_spends_all_that_the_guarantee_allows(
    sizes: tuple[int, int], rho_max: float
) -> None:
    table = e_table(*sizes, (0.05, 0.6), rho_max)

    largest = max(
        largest_expectation(table, FINE_RATES, rho=float(rho)) for rho in np.linspace(0, rho_max, 7)
    )
    assert 0.997 < largest <= 1.0
    assert not table.flags.writeable


def test_the_ratio_is_that_of_the_alternative_to_a_mixture_of_shared_rates() -> None:
    """One session an arm: e depends on the counts, and outcomes that differ for the claim count."""
    table = e_table(1, 1, (0.05, 0.6), 0.05)

    assert table[0, 1] > 1 > table[1, 0]
    assert table[0, 1] / table[1, 0] == pytest.approx((0.95 * 0.6) / (0.05 * 0.4), rel=1e-6)
    assert table[0, 0] < 1 and table[1, 1] < 1


def test_alternatives_are_averaged_and_not_chosen() -> None:
    pair = RunPair(1, 20, 8, 20)
    one, other = (0.01, 0.3), (0.1, 0.5)

    apart = [run_block_e_value([pair] * 2, alternatives=[each]) for each in (one, other)]

    assert run_block_e_value([pair] * 2, alternatives=[one, other]) == pytest.approx(sum(apart) / 2)


def test_what_no_alternative_allows_ends_it_at_zero() -> None:
    never = [(0.0, 0.3)]

    assert run_block_e_value([RunPair(1, 20, 8, 20)], alternatives=never) == 0.0
    both = run_block_e_value([RunPair(1, 20, 8, 20)], alternatives=[*never, (0.1, 0.5)])
    assert both == run_block_e_value([RunPair(1, 20, 8, 20)], alternatives=[(0.1, 0.5)]) / 2


def test_evidence_beyond_any_number_is_a_large_number_and_no_error() -> None:
    pairs = [RunPair(0, 20, 18, 20)] * 500

    assert run_block_e_value(pairs, alternatives=[(0.01, 0.9)], rho_max=0.0) > 1e300
