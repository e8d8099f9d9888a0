"""The rule of a verdict as a table: which numbers give which answers, edges included."""

from dataclasses import replace
from functools import lru_cache

import pytest
from scipy.optimize import brentq
from scipy.stats import betabinom

from db.vocabulary import Availability, Direction, Elimination, Headline
from runner.campaign.prediction import Criterion, parse_prediction
from runner.evidence.arm_comparison import ArmComparison, compare_arms
from runner.evidence.criteria import CriterionResult, CriterionState
from runner.evidence.decision_rule import ClaimKind, DecisionRule, Ending
from runner.evidence.direction_strength import DirectionP
from runner.evidence.silent_sessions import LaunchCounts
from runner.evidence.verdict_decision import (
    Decision,
    ReasonCode,
    corruption_failed,
    decide,
    is_of_corruption,
)

RULE = DecisionRule()
REDUCE = DecisionRule(claim=ClaimKind.REDUCE)
ELIMINATED = {"used": 0.03, "evidence_only": 0.03}
TOO_FEW = {"used": 0.09, "evidence_only": 0.09}
LOWER = {"p_lower": 0.01, "p_higher": 0.99}
HIGHER = {"p_lower": 0.99, "p_higher": 0.01}
UNCLEAR = {"p_lower": 0.3, "p_higher": 0.7}


@lru_cache
def compared(corrupt: int, silent: int, corrupt_before: int, silent_before: int) -> ArmComparison:
    after = LaunchCounts(80 - corrupt - silent, corrupt, silent)
    before = LaunchCounts(80 - corrupt_before - silent_before, corrupt_before, silent_before)
    return compare_arms([after], [before], rule=RULE, wedges=0)


def numbers(
    *,
    counts: tuple[int, int, int, int] = (0, 0, 12, 0),
    silence_rose: bool = False,
    used: float = 0.03,
    evidence_only: float = 0.03,
    p_lower: float = 0.3,
    p_higher: float = 0.7,
    p_lower_evidence_only: float = 0.3,
    p_higher_evidence_only: float = 0.7,
) -> ArmComparison:
    """A comparison with the numbers that the rule reads set by hand."""
    comparison = compared(*counts)
    return replace(
        comparison,
        limits=replace(comparison.limits, used=used, evidence_only=evidence_only),
        silence_rose=silence_rose,
        p_lower=p_lower,
        p_higher=p_higher,
        p_lower_evidence_only=p_lower_evidence_only,
        p_higher_evidence_only=p_higher_evidence_only,
    )


def criterion(text: str) -> Criterion:
    return parse_prediction(text).criteria[0]


def result(text: str, state: CriterionState, seen: int | None = 0) -> CriterionResult:
    return CriterionResult(criterion(text), state, seen)


HELD = (
    result("corrupt == 0", CriterionState.NOT_FAILED),
    result("wedges == 0", CriterionState.NOT_FAILED),
)
CORRUPT = (result("corrupt == 0", CriterionState.FAILED, 5), HELD[1])
WEDGED = (HELD[0], result("wedges == 0", CriterionState.FAILED, 2))
NOT_COUNTED = (HELD[0], result("wedges == 0", CriterionState.UNCHECKED, None))
NOTHING_SAID = (HELD[1],)


@pytest.mark.parametrize(
    ("criteria", "limits", "p", "headline", "reduction"),
    [
        (HELD, ELIMINATED, LOWER, Headline.CONFIRMED, Headline.CONFIRMED),
        (HELD, ELIMINATED, UNCLEAR, Headline.INCONCLUSIVE, Headline.INCONCLUSIVE),
        (HELD, ELIMINATED, HIGHER, Headline.WORSE, Headline.WORSE),
        (HELD, TOO_FEW, LOWER, Headline.INCONCLUSIVE, Headline.CONFIRMED),
        (HELD, TOO_FEW, UNCLEAR, Headline.INCONCLUSIVE, Headline.INCONCLUSIVE),
        (HELD, TOO_FEW, HIGHER, Headline.WORSE, Headline.WORSE),
        (CORRUPT, ELIMINATED, LOWER, Headline.IMPROVED_NOT_ELIMINATED, Headline.REFUTED),
        (CORRUPT, TOO_FEW, UNCLEAR, Headline.REFUTED, Headline.REFUTED),
        (CORRUPT, TOO_FEW, HIGHER, Headline.WORSE, Headline.WORSE),
        (WEDGED, ELIMINATED, LOWER, Headline.REFUTED, Headline.REFUTED),
        (WEDGED, ELIMINATED, UNCLEAR, Headline.REFUTED, Headline.REFUTED),
        (WEDGED, ELIMINATED, HIGHER, Headline.REFUTED, Headline.WORSE),
        (NOT_COUNTED, ELIMINATED, LOWER, Headline.INCONCLUSIVE, Headline.INCONCLUSIVE),
        (NOT_COUNTED, ELIMINATED, HIGHER, Headline.WORSE, Headline.WORSE),
        (NOTHING_SAID, ELIMINATED, LOWER, Headline.INCONCLUSIVE, Headline.CONFIRMED),
        ((), ELIMINATED, LOWER, Headline.CONFIRMED, Headline.CONFIRMED),
    ],
)
def test_the_headline_is_a_function_of_the_answers(
    criteria: tuple[CriterionResult, ...],
    limits: dict[str, float],
    p: dict[str, float],
    headline: Headline,
    reduction: Headline,
) -> None:
    comparison = numbers(**limits, **p)

    assert decide(comparison, criteria, rule=RULE).headline is headline
    assert decide(comparison, criteria, rule=REDUCE).headline is reduction


def test_a_rise_of_silence_takes_a_confirmation_back_and_nothing_else() -> None:
    confirmed = decide(numbers(**LOWER), HELD, rule=RULE)
    silent = decide(numbers(**LOWER, silence_rose=True), HELD, rule=RULE)

    assert (confirmed.headline, silent.headline) == (Headline.CONFIRMED, Headline.INCONCLUSIVE)
    assert confirmed.availability is Availability.NOT_SHOWN_WORSE
    assert silent.availability is Availability.WORSE
    assert (silent.elimination, silent.direction) == (Elimination.CONFIRMED, Direction.LOWER)
    assert (confirmed.codes, silent.codes) == ((), (ReasonCode.SILENCE_ROSE,))
    improved = decide(numbers(**LOWER, silence_rose=True), CORRUPT, rule=RULE)
    assert improved.headline is Headline.IMPROVED_NOT_ELIMINATED


@pytest.mark.parametrize(
    ("criteria", "counts", "used", "evidence_only", "elimination", "code"),
    [
        (CORRUPT, (5, 0, 12, 0), 0.01, 0.01, Elimination.REFUTED, ReasonCode.CRITERION_FAILED),
        (HELD, (0, 0, 12, 0), 0.05, 0.05, Elimination.CONFIRMED, None),
        (
            HELD,
            (0, 0, 12, 0),
            0.0501,
            0.05,
            Elimination.INCONCLUSIVE,
            ReasonCode.ELIMINATION_TOO_FEW_SESSIONS,
        ),
        (
            HELD,
            (0, 1, 12, 0),
            0.0501,
            0.05,
            Elimination.INCONCLUSIVE,
            ReasonCode.ELIMINATION_CENSORING,
        ),
        (
            HELD,
            (0, 1, 12, 0),
            0.09,
            0.0501,
            Elimination.INCONCLUSIVE,
            ReasonCode.ELIMINATION_TOO_FEW_SESSIONS,
        ),
        (
            NOT_COUNTED,
            (0, 0, 12, 0),
            0.01,
            0.01,
            Elimination.INCONCLUSIVE,
            ReasonCode.ELIMINATION_NOT_COUNTED,
        ),
        (
            NOTHING_SAID,
            (0, 0, 12, 0),
            0.01,
            0.01,
            Elimination.INCONCLUSIVE,
            ReasonCode.ELIMINATION_NOT_PREDICTED,
        ),
    ],
)
def test_elimination_by_criterion_and_limit(
    criteria: tuple[CriterionResult, ...],
    counts: tuple[int, int, int, int],
    used: float,
    evidence_only: float,
    elimination: Elimination,
    code: ReasonCode | None,
) -> None:
    comparison = numbers(counts=counts, used=used, evidence_only=evidence_only, **LOWER)

    decision = decide(comparison, criteria, rule=RULE)

    assert decision.elimination is elimination
    assert decision.codes == (() if code is None else (code,))


@pytest.mark.parametrize(
    ("p_lower", "p_higher", "registered", "direction"),
    [
        (0.05, 0.96, True, Direction.LOWER),
        (0.0501, 0.96, True, Direction.UNCLEAR),
        (0.96, 0.05, True, Direction.HIGHER),
        (0.96, 0.0501, True, Direction.UNCLEAR),
        (0.025, 0.99, False, Direction.LOWER),
        (0.0251, 0.99, False, Direction.UNCLEAR),
        (0.99, 0.025, False, Direction.HIGHER),
        (0.99, 0.0251, False, Direction.UNCLEAR),
    ],
)
def test_direction_at_the_edge_of_alpha_and_half_of_it_where_nothing_was_registered(
    p_lower: float, p_higher: float, registered: bool, direction: Direction
) -> None:
    comparison = numbers(p_lower=p_lower, p_higher=p_higher)

    rule = DecisionRule(is_registered=registered)

    assert decide(comparison, HELD, rule=rule).direction is direction


def reason_of_unclear(comparison: ArmComparison, rule: DecisionRule = RULE) -> ReasonCode:
    (code,) = decide(comparison, HELD, rule=rule).codes
    return code


def test_why_a_direction_is_unclear() -> None:
    censored, gone, few = (
        ReasonCode.DIRECTION_CENSORING,
        ReasonCode.DIRECTION_NOT_REPRODUCED,
        ReasonCode.DIRECTION_TOO_FEW_RUNS,
    )

    assert reason_of_unclear(numbers()) is few
    assert reason_of_unclear(numbers(counts=(0, 0, 0, 0))) is gone
    assert reason_of_unclear(numbers(counts=(0, 0, 1, 0))) is few
    # 16 of 80 are a fifth, which is still borne; one more is not.
    assert reason_of_unclear(numbers(counts=(0, 16, 12, 0))) is few
    assert reason_of_unclear(numbers(counts=(0, 17, 12, 0))) is censored
    assert reason_of_unclear(numbers(counts=(0, 17, 0, 0))) is censored
    assert reason_of_unclear(numbers(counts=(0, 0, 12, 80 - 12))) is few


@pytest.mark.parametrize("passing", ["p_lower_evidence_only", "p_higher_evidence_only"])
def test_a_direction_that_only_the_evidence_shows_is_hidden_by_silence(passing: str) -> None:
    censored = ReasonCode.DIRECTION_CENSORING
    in_either = [(0, 1, 12, 0), (0, 0, 12, 1)]

    for counts in in_either:
        at, beyond = (numbers(counts=counts, **{passing: p}) for p in (0.05, 0.0501))
        assert reason_of_unclear(at) is censored
        assert reason_of_unclear(beyond) is ReasonCode.DIRECTION_TOO_FEW_RUNS
    nobody_silent = numbers(**{passing: 0.05})
    assert reason_of_unclear(nobody_silent) is ReasonCode.DIRECTION_TOO_FEW_RUNS


def test_a_run_that_was_cut_short_shows_no_direction() -> None:
    decision = decide(numbers(**LOWER), HELD, rule=RULE, is_stopped_early=True)

    assert decision.direction is Direction.UNCLEAR
    assert decision.codes == (ReasonCode.DIRECTION_STOPPED_EARLY,)


def test_p_values_adjusted_for_other_hypotheses_decide_and_are_kept() -> None:
    raised = DirectionP(lower=0.06, higher=1.0)

    decision = decide(numbers(**LOWER), HELD, rule=RULE, adjusted=raised)

    assert decision.direction is Direction.UNCLEAR
    assert decision.adjusted == raised
    own = DirectionP(LOWER["p_lower"], LOWER["p_higher"])
    alone = decide(numbers(**LOWER), HELD, rule=RULE, adjusted=own)
    assert (alone.direction, alone.adjusted) == (Direction.LOWER, None)


def test_a_reduction_is_refuted_where_the_rate_is_above_the_predicted_one_for_sure() -> None:
    comparison = numbers(counts=(20, 10, 30, 0), **UNCLEAR)
    # Every silent session clean: 20 or more of 80 have probability 0.05 at this rate.
    limit = brentq(lambda p: betabinom.sf(19, 80, p * 19, (1 - p) * 19) - 0.05, 1e-6, 1 - 1e-6)

    def found(predicted: float | None, claim: ClaimKind = ClaimKind.REDUCE) -> Elimination:
        rule = DecisionRule(claim=claim, predicted_rate=predicted)
        return decide(comparison, HELD, rule=rule).elimination

    assert 0.05 < limit < 0.25
    assert found(limit - 1e-6) is Elimination.REFUTED
    assert found(limit + 1e-6) is Elimination.CONFIRMED
    assert found(None) is Elimination.CONFIRMED
    assert found(limit - 1e-6, ClaimKind.ELIMINATE) is Elimination.CONFIRMED


def test_where_runs_end_with_the_answer_e_values_decide_and_p_values_do_not() -> None:
    rule = DecisionRule(ending=Ending.DECIDED)

    one_pair = decide(numbers(**LOWER), HELD, rule=rule)

    assert one_pair.direction is Direction.UNCLEAR


def test_what_a_criterion_is_about() -> None:
    of_corruption = ("corrupt == 0", "leak == 0", "no_tool <= 3", "wrong == 0")
    of_other = ("wedges == 0", "silent == 0", "error == 0", "done == 80")

    assert all(is_of_corruption(criterion(text)) for text in of_corruption)
    assert not any(is_of_corruption(criterion(text)) for text in of_other)


def test_corruption_has_failed_only_where_a_criterion_on_it_has() -> None:
    assert corruption_failed(CORRUPT) and corruption_failed((*WEDGED, *CORRUPT))
    assert not corruption_failed(WEDGED) and not corruption_failed(HELD)
    assert not corruption_failed(())


def test_reasons_stand_in_the_order_of_the_questions() -> None:
    decision: Decision = decide(
        numbers(counts=(0, 40, 12, 0), used=0.6, silence_rose=True), HELD, rule=RULE
    )

    assert decision.codes == (
        ReasonCode.ELIMINATION_CENSORING,
        ReasonCode.DIRECTION_CENSORING,
        ReasonCode.SILENCE_ROSE,
    )
