"""One hypothesis with the evidence for it, and what must be looked at before it is decided."""

from dataclasses import dataclass, field, replace

from runner.campaign.prediction import Prediction
from runner.evidence.arm_comparison import ArmComparison, compare_arms
from runner.evidence.arm_evidence import ArmEvidence
from runner.evidence.background_rate import exceeds_background
from runner.evidence.clean_surplus import compare_without_surplus
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.criteria import CriterionResult, CriterionState, check_criteria
from runner.evidence.decision_rule import DecisionRule, Ending
from runner.evidence.run_rate_test import Cluster
from runner.evidence.verdict_decision import is_of_corruption
from runner.evidence.verdict_validity import Doubt, invalidities, launches_of, missing_runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One hypothesis with the evidence for it."""

    prediction: Prediction
    arm: ArmEvidence
    versus: ArmEvidence
    rule: DecisionRule = field(default_factory=DecisionRule)
    setting: ComparisonSetting = field(default_factory=ComparisonSetting)


@dataclass(frozen=True, slots=True)
class Assessment:
    """No comparison where there is a doubt, or where an arm has no session that says anything."""

    criteria: tuple[CriterionResult, ...]
    doubts: tuple[Doubt, ...]
    comparison: ArmComparison | None


def assess(question: Question) -> Assessment:
    arm, versus, rule, setting = question.arm, question.versus, question.rule, question.setting
    criteria = checked_criteria(question)
    failed = any(each.state is CriterionState.FAILED for each in criteria)
    doubts = (
        *invalidities(arm, versus, setting=setting),
        *missing_runs(arm, versus, setting=setting, rule=rule, criterion_failed=failed),
    )
    return Assessment(criteria, doubts, None if doubts else _comparison(question))


def checked_criteria(question: Question) -> tuple[CriterionResult, ...]:
    """What of the prediction has failed; on corruption only above the background, where one is
    known.
    """
    criteria = check_criteria(question.prediction, question.arm)
    rule = question.rule
    if rule.background <= 0.0:
        return criteria
    clusters = [
        Cluster(launch.corrupt, launch.sessions)
        for launch in launches_of(question.arm, setting=question.setting)
    ]
    exceeds = exceeds_background(
        clusters, background=rule.background, rho=rule.rho_floor, alpha=rule.alpha
    )
    return tuple(
        replace(result, state=CriterionState.NOT_FAILED)
        if result.state is CriterionState.FAILED
        and is_of_corruption(result.criterion)
        and not exceeds
        else result
        for result in criteria
    )


def _comparison(question: Question) -> ArmComparison | None:
    """None where an arm has no session that says anything."""
    setting = question.setting
    after, before = (launches_of(x, setting=setting) for x in (question.arm, question.versus))
    if not any(x.sessions for x in after) or not any(x.sessions for x in before):
        return None
    arm = question.arm
    wedges = arm.wedges if arm.wedges_are_known else None
    is_watched = question.rule.ending in (Ending.DECIDED, Ending.TWO_LOOKS)
    compare = compare_arms if is_watched else compare_without_surplus
    return compare(after, before, rule=question.rule, wedges=wedges)
