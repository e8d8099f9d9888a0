import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact, hypergeom

from runner.evidence.fisher import fisher_less, fisher_two_sided


@st.composite
def tables(draw: st.DrawFn) -> tuple[int, int, int, int]:
    n1, n2 = draw(st.integers(1, 300)), draw(st.integers(1, 300))
    return draw(st.integers(0, n1)), n1, draw(st.integers(0, n2)), n2


@settings(max_examples=60, deadline=None)
@given(tables())
def test_both_p_values_are_those_of_scipy(table: tuple[int, int, int, int]) -> None:
    x1, n1, x2, n2 = table
    cells = [[x1, n1 - x1], [x2, n2 - x2]]

    less = fisher_exact(cells, alternative="less").pvalue
    assert fisher_less(x1, n1, x2, n2) == pytest.approx(less, rel=1e-9)
    assert fisher_two_sided(x1, n1, x2, n2) == pytest.approx(fisher_exact(cells).pvalue, rel=1e-6)


def test_the_tea_lady_has_the_published_values() -> None:
    # R: fisher.test(matrix(c(3, 1, 1, 3), nrow = 2))
    assert fisher_two_sided(3, 4, 1, 4) == pytest.approx(0.4857, abs=5e-5)
    assert fisher_less(1, 4, 3, 4) == pytest.approx(0.2429, abs=5e-5)


def test_a_million_sessions_an_arm_keep_seven_digits() -> None:
    right = hypergeom.cdf(3, 2_000_000, 23, 1_000_000)

    assert fisher_less(3, 1_000_000, 20, 1_000_000) == pytest.approx(right, rel=1e-7)


def test_the_least_extreme_table_has_exactly_one() -> None:
    assert fisher_less(6, 480, 0, 480) == 1.0
    assert fisher_two_sided(0, 5, 0, 6) == 1.0
