"""The rule that turns numbers into a verdict: three answers, a headline and the reasons' codes.

Knows no words beyond the codes and no runs beyond their counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from db.vocabulary import (
    Availability,
    Direction,
    Elimination,
    Headline,
    Outcome,
    OutcomeClass,
)
from runner.campaign.prediction import CORRUPT, SILENT, WEDGES, Criterion
from runner.evidence.arm_comparison import ArmComparison
from runner.evidence.clustered_limits import clustered_lower_limit
from runner.evidence.criteria import CriterionResult, CriterionState
from runner.evidence.decision_rule import ClaimKind, DecisionRule
from runner.evidence.direction_strength import DirectionP, direction_p


class ReasonCode(StrEnum):
    """Why a verdict is no stronger than it is. The word before the colon says of what."""

    CRITERION_FAILED = "criterion_failed"
    ELIMINATION_CENSORING = "elimination:censoring"
    ELIMINATION_TOO_FEW_SESSIONS = "elimination:too_few_sessions"
    ELIMINATION_NOT_COUNTED = "elimination:wedges_not_counted"
    ELIMINATION_NOT_PREDICTED = "elimination:not_predicted"
    DIRECTION_CENSORING = "direction:censoring"
    DIRECTION_NOT_REPRODUCED = "direction:not_reproduced"
    DIRECTION_TOO_FEW_RUNS = "direction:too_few_runs"
    DIRECTION_STOPPED_EARLY = "direction:stopped_early"
    SILENCE_ROSE = "guardrail:errors_up"
    INVALID_DIFFERENCES = "invalid:undeclared_differences"
    INVALID_UNVERIFIED = "invalid:arm_not_verified"
    INVALID_SATURATED = "invalid:client_saturated"
    INVALID_NOT_EXERCISED = "invalid:not_exercised"
    INVALID_COUNTS = "invalid:counts_do_not_add_up"
    RUNS_MISSING = "invalid:runs_missing"


@dataclass(frozen=True, slots=True)
class Decision:
    """`adjusted`: the p-values of direction that decided, where other hypotheses raised them."""

    elimination: Elimination
    direction: Direction
    availability: Availability
    headline: Headline
    codes: tuple[ReasonCode, ...]
    adjusted: DirectionP | None = None


def decide(
    comparison: ArmComparison,
    criteria: Sequence[CriterionResult],
    *,
    rule: DecisionRule,
    is_stopped_early: bool = False,
    adjusted: DirectionP | None = None,
) -> Decision:
    """`is_stopped_early`: a run was cut short, so that its rate is no rate. `adjusted`: the
    p-values of direction as adjusted for the other hypotheses of the campaign.
    """
    elimination, elimination_codes = _elimination(comparison, criteria, rule=rule)
    direction, direction_codes = _direction(
        comparison, rule=rule, is_stopped_early=is_stopped_early, adjusted=adjusted
    )
    worse = comparison.silence_rose
    return Decision(
        elimination=elimination,
        direction=direction,
        availability=Availability.WORSE if worse else Availability.NOT_SHOWN_WORSE,
        headline=_headline(elimination, direction, criteria, silence_rose=worse, rule=rule),
        codes=(
            *elimination_codes,
            *direction_codes,
            *([ReasonCode.SILENCE_ROSE] if worse else []),
        ),
        adjusted=None if adjusted == direction_p(comparison, rule=rule) else adjusted,
    )


def _elimination(
    comparison: ArmComparison, criteria: Sequence[CriterionResult], *, rule: DecisionRule
) -> tuple[Elimination, tuple[ReasonCode, ...]]:
    if any(result.state is CriterionState.FAILED for result in criteria):
        return Elimination.REFUTED, (ReasonCode.CRITERION_FAILED,)
    if rule.claim is ClaimKind.REDUCE and _exceeds_prediction(comparison, rule):
        return Elimination.REFUTED, (ReasonCode.CRITERION_FAILED,)
    if is_unchecked(criteria):
        return Elimination.INCONCLUSIVE, (ReasonCode.ELIMINATION_NOT_COUNTED,)
    if criteria and not any(is_of_corruption(result.criterion) for result in criteria):
        return Elimination.INCONCLUSIVE, (ReasonCode.ELIMINATION_NOT_PREDICTED,)
    limits = comparison.limits
    if limits.used <= rule.p_max:
        return Elimination.CONFIRMED, ()
    if limits.evidence_only <= rule.p_max and comparison.after.silent > 0:
        return Elimination.INCONCLUSIVE, (ReasonCode.ELIMINATION_CENSORING,)
    return Elimination.INCONCLUSIVE, (ReasonCode.ELIMINATION_TOO_FEW_SESSIONS,)


def _exceeds_prediction(comparison: ArmComparison, rule: DecisionRule) -> bool:
    """Whether even with all silent sessions clean the rate is above the predicted one."""
    if rule.predicted_rate is None:
        return False
    after = comparison.after
    sizes = [launch.sessions for launch in after.launches]
    lower = clustered_lower_limit(
        after.corrupt, sizes, rho=comparison.rho, confidence=rule.confidence
    )
    return lower > rule.predicted_rate


def _direction(
    comparison: ArmComparison,
    *,
    rule: DecisionRule,
    is_stopped_early: bool,
    adjusted: DirectionP | None,
) -> tuple[Direction, tuple[ReasonCode, ...]]:
    if is_stopped_early:
        return Direction.UNCLEAR, (ReasonCode.DIRECTION_STOPPED_EARLY,)
    alpha = rule.alpha_of_direction
    p = adjusted or direction_p(comparison, rule=rule)
    if p.lower <= alpha:
        return Direction.LOWER, ()
    if p.higher <= alpha:
        return Direction.HIGHER, ()
    return Direction.UNCLEAR, (_why_unclear(comparison, rule=rule),)


def _why_unclear(comparison: ArmComparison, *, rule: DecisionRule) -> ReasonCode:
    evidence_only = min(comparison.p_lower_evidence_only, comparison.p_higher_evidence_only)
    would_pass = evidence_only <= rule.alpha_of_direction and (
        comparison.after.silent + comparison.before.silent > 0
    )
    if comparison.after.silent_share > rule.silent_refused or would_pass:
        return ReasonCode.DIRECTION_CENSORING
    if comparison.before.corrupt == 0:
        return ReasonCode.DIRECTION_NOT_REPRODUCED
    return ReasonCode.DIRECTION_TOO_FEW_RUNS


def _headline(
    elimination: Elimination,
    direction: Direction,
    criteria: Sequence[CriterionResult],
    *,
    silence_rose: bool,
    rule: DecisionRule,
) -> Headline:
    if rule.claim is ClaimKind.REDUCE:
        return _headline_of_reduction(elimination, direction, criteria)
    if elimination is Elimination.REFUTED:
        if not corruption_failed(criteria):
            return Headline.REFUTED
        return {
            Direction.LOWER: Headline.IMPROVED_NOT_ELIMINATED,
            Direction.HIGHER: Headline.WORSE,
            Direction.UNCLEAR: Headline.REFUTED,
        }[direction]
    if direction is Direction.HIGHER:
        return Headline.WORSE
    confirmed = elimination is Elimination.CONFIRMED and direction is Direction.LOWER
    return Headline.CONFIRMED if confirmed and not silence_rose else Headline.INCONCLUSIVE


def _headline_of_reduction(
    elimination: Elimination, direction: Direction, criteria: Sequence[CriterionResult]
) -> Headline:
    if direction is Direction.HIGHER:
        return Headline.WORSE
    if elimination is Elimination.REFUTED:
        return Headline.REFUTED
    confirmed = direction is Direction.LOWER and not is_unchecked(criteria)
    return Headline.CONFIRMED if confirmed else Headline.INCONCLUSIVE


def is_unchecked(criteria: Sequence[CriterionResult]) -> bool:
    """Whether one was not counted, so that it can neither fail nor hold."""
    return any(result.state is CriterionState.UNCHECKED for result in criteria)


def corruption_failed(criteria: Sequence[CriterionResult]) -> bool:
    """Whether a criterion on corruption failed, not only one on wedges or silence."""
    return any(
        result.state is CriterionState.FAILED and is_of_corruption(result.criterion)
        for result in criteria
    )


def is_of_corruption(criterion: Criterion) -> bool:
    if criterion.name in (WEDGES, SILENT):
        return False
    return (
        criterion.name == CORRUPT or Outcome(criterion.name).outcome_class is OutcomeClass.CORRUPT
    )
