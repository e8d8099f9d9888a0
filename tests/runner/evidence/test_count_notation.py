import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.errors import UsageError
from runner.evidence.campaign_verdict import judge_hypothesis
from runner.evidence.comparison_numbers import comparison_numbers
from runner.evidence.count_notation import parse_arm, parse_arms
from runner.evidence.counts_question import question_of_counts
from runner.evidence.silent_sessions import LaunchCounts


def test_one_run_and_several_are_typed_alike() -> None:
    assert parse_arm("5/80") == (LaunchCounts(75, 5, 0),)
    assert parse_arm("3/80+2/60") == (LaunchCounts(77, 3, 0), LaunchCounts(58, 2, 0))


def test_silent_sessions_are_given_for_both_arms() -> None:
    after, before = parse_arms("5/80", "12/80+11/60", silent="75,0")

    assert after == (LaunchCounts(0, 5, 75),)
    assert before == (LaunchCounts(68, 12, 0), LaunchCounts(49, 11, 0))
    assert parse_arms("1/9+1/9", "0/9", silent="2+3,0")[0][1] == LaunchCounts(5, 1, 3)


@pytest.mark.parametrize(
    ("after", "silent", "what"),
    [
        ("5", None, "5/80"),
        ("81/80", None, "no part of its sessions"),
        ("0/0", None, "no part of its sessions"),
        ("-1/80", None, "5/80"),
        ("5/80", "75", "AFTER,BEFORE"),
        ("5/80", "x,0", "whole numbers"),
        ("5/80", "76,0", "more than 80 sessions"),
        ("5/80+5/80", "75,0", "for each"),
    ],
)
def test_what_does_not_fit_is_told_in_one_sentence(
    after: str, silent: str | None, what: str
) -> None:
    with pytest.raises(UsageError, match=what):
        parse_arms(after, "12/80", silent=silent)


@given(st.text(max_size=12))
def test_no_text_breaks_it(text: str) -> None:
    try:
        parse_arm(text)
    except UsageError as error:
        assert str(error)


def test_the_calculator_gives_the_published_numbers_of_five_against_twelve() -> None:
    verdict = judge_hypothesis(question_of_counts(*parse_arms("5/80", "12/80")))

    assert verdict.comparison is not None
    numbers = comparison_numbers(verdict.comparison)
    assert numbers["independent"]["boschloo_less"] == pytest.approx(0.0483, abs=5e-5)
    assert numbers["independent"]["fisher_less"] == pytest.approx(0.0609, abs=5e-5)
    assert numbers["difference"]["newcombe"] == pytest.approx([-0.188, 0.010], abs=5e-4)
    assert numbers["tipping_icc"] == pytest.approx(0.0003, abs=5e-5)
    assert "No change shown: 5 of 80 v 12 of 80" in verdict.answers.direction


def test_a_ratio_without_an_upper_limit_is_null_in_json() -> None:
    verdict = judge_hypothesis(question_of_counts(*parse_arms("3/80", "0/80")))

    assert verdict.comparison is not None
    ratio = comparison_numbers(verdict.comparison)["ratio"]
    assert ratio["koopman"][1] is None and ratio["katz"] is None
