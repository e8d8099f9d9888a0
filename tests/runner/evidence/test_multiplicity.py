import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control
from statsmodels.stats.multitest import multipletests

from runner.evidence.multiplicity import benjamini_hochberg, holm

p_values = st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12)


@settings(max_examples=25, deadline=None)
@given(p_values)
def test_adjusted_p_values_equal_those_of_two_libraries(values: list[float]) -> None:
    assert holm(values) == pytest.approx(multipletests(values, method="holm")[1], abs=1e-12)
    assert benjamini_hochberg(values) == pytest.approx(false_discovery_control(values), abs=1e-12)


@given(p_values)
def test_one_hypothesis_more_never_makes_another_easier(values: list[float]) -> None:
    for adjust in (holm, benjamini_hochberg):
        alone, together = adjust(values), adjust([*values, 1.0])
        assert all(more >= less - 1e-12 for more, less in zip(together, alone, strict=False))


def test_no_hypotheses_need_no_adjustment() -> None:
    assert holm([]) == benjamini_hochberg([]) == ()
