"""The exact conditional test in strata, against R, scipy and counting."""

from itertools import product
from math import comb, inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact
from statsmodels.stats.contingency_tables import StratifiedTable

from runner.evidence.stratified_exact import Stratum, stratified_association

# R's help page of mantelhaen.test: array(c(0,0,6,5, 3,0,3,6, 6,2,0,4, 5,6,1,0, 2,5,0,0), c(2,2,5)),
# penicillin and rabbits; `mantelhaen.test(Rabbits, exact = TRUE)` gives p-value = 0.03994.
RABBITS = [(0, 0, 6, 5), (3, 0, 3, 6), (6, 2, 0, 4), (5, 6, 1, 0), (2, 5, 0, 0)]


def stratum(a: int, b: int, c: int, d: int) -> Stratum:
    """From a table by columns: [[a, c], [b, d]]."""
    return Stratum(events_with=a, events=a + b, with_trait=a + c, total=a + b + c + d)


def test_the_rabbits_of_r_give_the_p_value_of_r() -> None:
    found = stratified_association([stratum(*table) for table in RABBITS])

    assert found.p_two_sided == pytest.approx(0.03994, abs=5e-6)
    assert found.odds_ratio == pytest.approx(7.0)
    assert found.strata == 3


def test_one_stratum_is_fishers_test() -> None:
    found = stratified_association([stratum(8, 1, 2, 29)])

    table = [[8, 2], [1, 29]]
    assert found.p_more == pytest.approx(fisher_exact(table, alternative="greater").pvalue)
    assert found.p_two_sided == pytest.approx(fisher_exact(table).pvalue)


cells = st.integers(0, 3)
tables = st.lists(st.tuples(cells, cells, cells, cells), min_size=1, max_size=3)


@settings(max_examples=60)
@given(tables)
def test_p_is_what_counting_every_arrangement_gives(given_tables: list[tuple[int, ...]]) -> None:
    strata = [stratum(*table) for table in given_tables]

    found = stratified_association(strata)

    ways = [
        [
            (x, comb(s.with_trait, x) * comb(s.total - s.with_trait, s.events - x))
            for x in range(min(s.events, s.with_trait) + 1)
            if s.events - x <= s.total - s.with_trait
        ]
        for s in strata
    ]
    seen = sum(s.events_with for s in strata)
    more = total = 0
    for choice in product(*ways):
        weight = 1
        for _, each in choice:
            weight *= each
        total += weight
        more += weight if sum(x for x, _ in choice) >= seen else 0
    assert found.p_more == pytest.approx(more / total)


@given(st.lists(st.tuples(*[st.integers(1, 9)] * 4), min_size=1, max_size=4))
def test_the_odds_ratio_is_that_of_mantel_and_haenszel(
    given_tables: list[tuple[int, int, int, int]],
) -> None:
    found = stratified_association([stratum(*table) for table in given_tables])

    oracle = StratifiedTable([[[a, c], [b, d]] for a, b, c, d in given_tables])
    assert found.odds_ratio == pytest.approx(oracle.oddsratio_pooled)


def test_what_cannot_tell_gives_one() -> None:
    for strata in ([], [stratum(0, 0, 3, 4)], [stratum(5, 0, 0, 0)]):
        found = stratified_association(strata)
        assert (found.p_more, found.p_two_sided, found.strata) == (1.0, 1.0, 0)


def test_a_trait_without_which_nothing_happened_has_no_finite_odds_ratio() -> None:
    assert stratified_association([stratum(5, 0, 3, 9)]).odds_ratio == inf


def test_a_table_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="no such table"):
        Stratum(events_with=4, events=3, with_trait=5, total=9)
