"""The verdict on a hypothesis: three answers, one headline, why, and what to do next.

Made from counts by run and from how the runs were made; it reads no record and asks no server.
Invalid comparisons are told before any statistics.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from db.vocabulary import Availability, Direction, Elimination, Headline
from runner.campaign.prediction import Prediction
from runner.evidence.arm_comparison import ArmComparison, compare_arms
from runner.evidence.arm_evidence import ArmEvidence
from runner.evidence.background_rate import exceeds_background
from runner.evidence.clean_surplus import compare_without_surplus
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.criteria import CriterionResult, CriterionState, check_criteria
from runner.evidence.decision_rule import DecisionRule, Ending
from runner.evidence.multiplicity import holm
from runner.evidence.next_experiment import (
    DEFAULT_HISTORICAL_RATE,
    Experiment,
    more_clean_runs,
    next_experiments,
    repair_experiment,
    sessions_to_reproduce,
)
from runner.evidence.run_rate_test import Cluster
from runner.evidence.verdict_caveats import (
    Caveat,
    CaveatKind,
    basis_sentence,
    caveats_of,
    caveats_of_numbers,
)
from runner.evidence.verdict_decision import (
    AdjustedP,
    Decision,
    ReasonCode,
    decide,
    is_of_corruption,
)
from runner.evidence.verdict_record import inputs_of
from runner.evidence.verdict_validity import (
    Doubt,
    invalidities,
    launches_of,
    missing_runs,
)
from runner.evidence.verdict_words import Answers, Matter, answers_of, violations_text

METHOD = "evidence 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One hypothesis with the evidence for it."""

    prediction: Prediction
    arm: ArmEvidence
    versus: ArmEvidence
    rule: DecisionRule = field(default_factory=DecisionRule)
    setting: ComparisonSetting = field(default_factory=ComparisonSetting)


@dataclass(frozen=True, slots=True, kw_only=True)
class CampaignVerdict:
    """`sentence` claims no more than the three answers; `inputs` is all it was made from, as JSON.

    `comparison` is None where the arms could not be compared.
    """

    headline: Headline
    elimination: Elimination
    direction: Direction
    availability: Availability
    answers: Answers
    basis: str
    reasons: tuple[Doubt, ...]
    caveats: tuple[Caveat, ...]
    experiments: tuple[Experiment, ...]
    criteria: tuple[CriterionResult, ...]
    comparison: ArmComparison | None
    inputs: dict[str, Any]
    is_exploratory: bool
    method: str = METHOD

    @property
    def sentence(self) -> str:
        """What stands under the headline."""
        label = "Exploratory: " if self.is_exploratory else ""
        return f"{label}{self.answers.headline}"

    @property
    def reason_codes(self) -> frozenset[str]:
        """As recorded verdicts write them, each failed criterion with what was seen."""
        codes = {str(r.code) for r in self.reasons if r.code is not ReasonCode.CRITERION_FAILED}
        return frozenset(codes | {r.text for r in self.reasons if str(r.code) not in codes})


def judge_hypothesis(question: Question) -> CampaignVerdict:
    return _judged(question, adjusted=None, hypotheses=1)


def judge_campaign(questions: Mapping[str, Question]) -> dict[str, CampaignVerdict]:
    """All hypotheses of a campaign; p-values of direction are adjusted for their number (Holm)."""
    p_values = {
        key: (comparison.p_lower, comparison.p_higher)
        for key, question in questions.items()
        for comparison in [_comparison(question)]
        if comparison is not None
    }
    lower = holm([p for p, _ in p_values.values()])
    higher = holm([p for _, p in p_values.values()])
    adjusted = {
        key: AdjustedP(*pair)
        for key, pair in zip(p_values, zip(lower, higher, strict=True), strict=True)
    }
    return {
        key: _judged(question, adjusted=adjusted.get(key), hypotheses=len(questions))
        for key, question in questions.items()
    }


def _judged(question: Question, *, adjusted: AdjustedP | None, hypotheses: int) -> CampaignVerdict:
    arm, versus, rule, setting = question.arm, question.versus, question.rule, question.setting
    criteria = _checked(question)
    invalid = invalidities(arm, versus, setting=setting)
    missing = missing_runs(arm, versus, setting=setting, rule=rule)
    caveats = caveats_of(arm, versus, rule=rule, setting=setting, hypotheses=hypotheses)
    comparison = None if invalid or missing else _comparison(question)
    if comparison is None:
        return _without_statistics(question, criteria, (*invalid, *missing), caveats)
    decision = decide(
        comparison,
        criteria,
        rule=rule,
        is_stopped_early=setting.ended_by_rule and comparison.after.corrupt > 0,
        adjusted=adjusted,
    )
    matter = Matter(
        prediction=question.prediction,
        criteria=criteria,
        comparison=comparison,
        decision=decision,
        rule=rule,
        scope=setting.scope,
        more_clean_runs=(
            more_clean_runs(comparison, rule=rule)
            if ReasonCode.ELIMINATION_TOO_FEW_SESSIONS in decision.codes
            else None
        ),
        sessions_to_reproduce=sessions_to_reproduce(
            setting.historical_rate or DEFAULT_HISTORICAL_RATE
        ),
    )
    answers = answers_of(matter)
    return CampaignVerdict(
        headline=decision.headline,
        elimination=decision.elimination,
        direction=decision.direction,
        availability=decision.availability,
        answers=answers,
        basis=basis_sentence(comparison, rule=rule),
        reasons=_reasons(decision, criteria, answers),
        caveats=(
            *caveats,
            *caveats_of_numbers(comparison, decision, arm=arm, versus=versus, rule=rule),
        ),
        experiments=next_experiments(
            comparison,
            decision,
            rule=rule,
            setting=setting,
            wedged=bool(arm.wedges or arm.wedge_lines),
        ),
        criteria=criteria,
        comparison=comparison,
        inputs=inputs_of(question.prediction, arm, versus, rule=rule, setting=setting),
        is_exploratory=not rule.is_registered,
    )


def _comparison(question: Question) -> ArmComparison | None:
    """None where an arm has no session that says anything."""
    setting = question.setting
    after, before = (launches_of(x, setting=setting) for x in (question.arm, question.versus))
    if not any(x.sessions for x in after) or not any(x.sessions for x in before):
        return None
    arm = question.arm
    wedges = arm.wedges if arm.wedges_are_known else None
    compare = compare_arms if question.rule.ending is Ending.DECIDED else compare_without_surplus
    return compare(after, before, rule=question.rule, wedges=wedges)


def _checked(question: Question) -> tuple[CriterionResult, ...]:
    """A criterion on corruption fails only above the background of a known-good arm."""
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


def _without_statistics(
    question: Question,
    criteria: tuple[CriterionResult, ...],
    doubts: Sequence[Doubt],
    caveats: tuple[Caveat, ...],
) -> CampaignVerdict:
    """Invalid: nothing is said. Runs missing: only that a criterion already failed."""
    failed = [r for r in criteria if r.state is CriterionState.FAILED]
    interim = all(doubt.code is ReasonCode.RUNS_MISSING for doubt in doubts)
    refuted = bool(failed) and interim
    why = "; ".join(doubt.text for doubt in doubts)
    seen = f" All the same, {violations_text(criteria)}." if failed and not interim else ""
    opening = (
        f'The prediction "{question.prediction}" failed: {violations_text(criteria)}. '
        f"Nothing else can be said yet: {why}."
        if refuted
        else f'Nothing can be said of the prediction "{question.prediction}": {why}.{seen}'
    )
    unclear = f"Not compared: {why}."
    answers = Answers(
        headline=opening,
        elimination=f"The prediction failed: {violations_text(criteria)}." if refuted else unclear,
        direction=unclear,
        availability=unclear,
    )
    open_now = (Caveat(CaveatKind.INTERIM, "Interim: runs are still open."),) if interim else ()
    sizes = [run.counts.all for run in (*question.arm.done, *question.versus.done)]
    return CampaignVerdict(
        headline=Headline.REFUTED if refuted else Headline.INCONCLUSIVE,
        elimination=Elimination.REFUTED if refuted else Elimination.INCONCLUSIVE,
        direction=Direction.UNCLEAR,
        availability=Availability.NOT_SHOWN_WORSE,
        answers=answers,
        basis="Basis: counts only; the arms were not compared.",
        reasons=(*(_failed_reason(r) for r in failed if refuted), *doubts),
        caveats=(*open_now, *caveats),
        experiments=(
            repair_experiment(
                [doubt.text for doubt in doubts],
                missing_after=question.arm.missing,
                missing_before=question.versus.missing,
                sessions=max(sizes, default=0),
                setting=question.setting,
            ),
        ),
        criteria=criteria,
        comparison=None,
        inputs=inputs_of(
            question.prediction,
            question.arm,
            question.versus,
            rule=question.rule,
            setting=question.setting,
        ),
        is_exploratory=not question.rule.is_registered,
    )


def _reasons(
    decision: Decision, criteria: Sequence[CriterionResult], answers: Answers
) -> tuple[Doubt, ...]:
    texts = {"elimination": answers.elimination, "direction": answers.direction}
    failed = [_failed_reason(r) for r in criteria if r.state is CriterionState.FAILED]
    others = [
        Doubt(code, texts.get(code.split(":")[0], answers.availability))
        for code in decision.codes
        if code is not ReasonCode.CRITERION_FAILED
    ]
    if ReasonCode.CRITERION_FAILED in decision.codes and not failed:
        failed = [Doubt(ReasonCode.CRITERION_FAILED, answers.elimination)]
    return (*failed, *others)


def _failed_reason(result: CriterionResult) -> Doubt:
    criterion = result.criterion
    name = "corruption" if criterion.name == "corrupt" else criterion.name
    rule = f"{name} {criterion.comparison} {criterion.limit}"
    return Doubt(ReasonCode.CRITERION_FAILED, f"criterion {rule} failed ({result.seen} seen)")
