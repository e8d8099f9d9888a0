import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom, binom

from runner.evidence.beta_binomial import beta_binomial_pmf, probability_of_none, total_pmf

rates = st.floats(0.001, 0.999)
correlations = st.floats(0.0, 0.9)


@given(st.integers(0, 120), rates, st.floats(0.01, 0.9))
def test_it_is_the_law_of_scipy(n: int, rate: float, rho: float) -> None:
    a, b = rate * (1 - rho) / rho, (1 - rate) * (1 - rho) / rho
    right = betabinom.pmf(np.arange(n + 1), n, a, b)

    pmf = beta_binomial_pmf(n, np.array([rate]), rho=rho)[0]

    assert pmf == pytest.approx(right, rel=1e-8, abs=1e-14)


@given(st.integers(0, 120), rates)
def test_without_correlation_it_is_the_binomial_and_nearly_so_with_next_to_none(
    n: int, rate: float
) -> None:
    right = binom.pmf(np.arange(n + 1), n, rate)

    assert beta_binomial_pmf(n, np.array([rate]), rho=0.0)[0] == pytest.approx(right, rel=1e-9)
    near = beta_binomial_pmf(n, np.array([rate]), rho=1e-12)[0]
    assert near == pytest.approx(right, rel=1e-6)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=4), rates, correlations)
def test_totals_have_the_mean_and_the_variance_of_correlated_sessions(
    sizes: list[int], rate: float, rho: float
) -> None:
    pmf = total_pmf(sizes, np.array([rate]), rho=rho)[0]
    k = np.arange(len(pmf))
    mean = float(k @ pmf)

    assert pmf.sum() == pytest.approx(1.0, abs=1e-9)
    assert mean == pytest.approx(sum(sizes) * rate, rel=1e-7)
    variance = sum(n * rate * (1 - rate) * (1 + (n - 1) * rho) for n in sizes)
    assert float((k - mean) ** 2 @ pmf) == pytest.approx(variance, rel=1e-6, abs=1e-9)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=4), rates, correlations)
def test_none_at_all_has_the_first_probability_of_the_law(
    sizes: list[int], rate: float, rho: float
) -> None:
    pmf = total_pmf(sizes, np.array([rate]), rho=rho)[0]

    assert probability_of_none(sizes, rate, rho=rho) == pytest.approx(float(pmf[0]), rel=1e-9)


def test_many_rates_and_few_rates_take_other_paths_to_one_result() -> None:
    many = np.linspace(0, 1, 20)

    together = total_pmf([7, 11, 5], many, rho=0.1)
    apart = np.concatenate([total_pmf([7, 11, 5], many[i : i + 1], rho=0.1) for i in range(20)])

    assert together == pytest.approx(apart, rel=1e-12)


def test_rates_of_zero_and_one_are_certain() -> None:
    pmf = beta_binomial_pmf(3, np.array([0.0, 1.0]), rho=0.2)

    assert pmf.tolist() == [[1, 0, 0, 0], [0, 0, 0, 1]]
    assert probability_of_none([3], 1.0, rho=0.2) == 0.0


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=4), rates, correlations, st.integers(0, 170)
)
def test_the_first_probabilities_are_the_same_without_the_others(
    sizes: list[int], rate: float, rho: float, most: int
) -> None:
    law = total_pmf(sizes, np.array([rate]), rho=rho)
    first = total_pmf(sizes, np.array([rate]), rho=rho, most=most)

    assert first[0] == pytest.approx(law[0, : most + 1], rel=1e-12, abs=1e-300)
