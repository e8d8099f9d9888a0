"""The grammar of predictions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.campaign.prediction import (
    COUNT_NAMES,
    Comparison,
    Criterion,
    Prediction,
    PredictionError,
    parse_prediction,
)

CRITERIA = st.builds(
    Criterion,
    name=st.sampled_from(COUNT_NAMES),
    comparison=st.sampled_from(Comparison),
    limit=st.integers(1, 10**9),
)


def test_a_prediction_is_criteria_joined_by_and() -> None:
    prediction = parse_prediction("corrupt == 0 and wedges <= 2 and no_tool<3")

    assert prediction.criteria == (
        Criterion("corrupt", Comparison.EQUAL, 0),
        Criterion("wedges", Comparison.AT_MOST, 2),
        Criterion("no_tool", Comparison.BELOW, 3),
    )


@given(st.lists(CRITERIA, min_size=1, max_size=4), st.sampled_from(["", " ", "\t  "]))
def test_a_prediction_reads_back_as_it_is_written(criteria: list[Criterion], space: str) -> None:
    prediction = Prediction(tuple(criteria))

    assert parse_prediction(f"{space}{prediction}{space}") == prediction


@pytest.mark.parametrize(
    ("text", "offset", "found", "what"),
    [
        ("", 0, "the end", "a criterion starts with the name of a count"),
        ("corupt == 0", 0, "corupt", "a criterion starts with the name of a count"),
        ("harness_error == 0", 0, "harness_error", "a criterion starts with the name of a count"),
        ("corrupt", 7, "the end", "a count is compared by ==, <= or <"),
        ("corrupt = 0", 8, "=", "a count is compared by ==, <= or <"),
        ("corrupt >= 0", 8, ">=", "a count is compared by ==, <= or <"),
        ("corrupt == none", 11, "none", "a count is compared with a whole number"),
        ("corrupt == -1", 11, "-", "a count is compared with a whole number"),
        ("corrupt == ٣", 11, "٣", "a count is compared with a whole number"),
        ("corrupt == 99999999999", 11, "99999999999", "a count is compared with a whole number"),
        ("corrupt == 0.5", 12, ".", "criteria are joined by and"),
        ("corrupt == 0 or leak == 0", 13, "or", "criteria are joined by and"),
        ("corrupt == 0 and", 16, "the end", "a criterion starts with the name of a count"),
        ("corrupt < 0", 10, "0", "no count is below 0, so this can never hold"),
    ],
)
def test_a_misfit_is_named_with_its_column(text: str, offset: int, found: str, what: str) -> None:
    with pytest.raises(PredictionError) as raised:
        parse_prediction(text)

    assert (raised.value.offset, raised.value.found, raised.value.what) == (offset, found, what)


@given(st.text(max_size=40))
def test_any_text_is_a_prediction_or_a_named_misfit(text: str) -> None:
    try:
        parse_prediction(text)
    except PredictionError as error:
        assert 0 <= error.offset <= len(text)


@pytest.mark.parametrize(
    ("criterion", "breaking", "holding"),
    [
        (Criterion("leak", Comparison.EQUAL, 0), 1, 0),
        (Criterion("leak", Comparison.AT_MOST, 2), 3, 2),
        (Criterion("leak", Comparison.BELOW, 2), 2, 1),
        (Criterion("leak", Comparison.EQUAL, 2), 3, 2),
    ],
)
def test_a_count_beyond_its_limit_breaks_a_criterion_for_good(
    criterion: Criterion, breaking: int, holding: int
) -> None:
    assert criterion.is_exceeded_by(breaking)
    assert not criterion.is_exceeded_by(holding)


def test_only_an_equation_can_be_missed_from_below() -> None:
    assert Criterion("done", Comparison.EQUAL, 2).is_unreached_by(1)
    assert not Criterion("done", Comparison.EQUAL, 2).is_unreached_by(2)
    assert not Criterion("done", Comparison.AT_MOST, 2).is_unreached_by(1)
