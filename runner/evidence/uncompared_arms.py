"""What is said where two arms cannot be compared: why, and at most that a criterion failed."""

from collections.abc import Sequence
from dataclasses import dataclass

from runner.campaign.prediction import Prediction
from runner.evidence.arm_evidence import ArmEvidence
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.criteria import CriterionResult, CriterionState
from runner.evidence.next_experiment import Experiment, ExperimentKind
from runner.evidence.number_words import of_text
from runner.evidence.run_cost import cost_of
from runner.evidence.verdict_caveats import Caveat, CaveatKind
from runner.evidence.verdict_decision import ReasonCode
from runner.evidence.verdict_reasons import failed_reason
from runner.evidence.verdict_validity import Doubt, missing_text
from runner.evidence.verdict_words import Answers, violations_text

BASIS = "Basis: counts only; the arms were not compared."


@dataclass(frozen=True, slots=True)
class Uncompared:
    """`is_refuted`: runs are missing, and a criterion has failed already, which stands."""

    is_refuted: bool
    answers: Answers
    reasons: tuple[Doubt, ...]
    caveats: tuple[Caveat, ...]
    experiment: Experiment


def uncompared_arms(
    prediction: Prediction,
    criteria: Sequence[CriterionResult],
    doubts: Sequence[Doubt],
    *,
    arm: ArmEvidence,
    versus: ArmEvidence,
    setting: ComparisonSetting,
) -> Uncompared:
    failed = [result for result in criteria if result.state is CriterionState.FAILED]
    is_interim = all(doubt.code is ReasonCode.RUNS_MISSING for doubt in doubts)
    is_refuted = bool(failed) and is_interim
    return Uncompared(
        is_refuted=is_refuted,
        answers=_answers(prediction, criteria, doubts, is_refuted=is_refuted),
        reasons=(*(failed_reason(result) for result in failed if is_refuted), *doubts),
        caveats=_interim(arm, versus) if is_interim else (),
        experiment=_repair(doubts, arm, versus, setting=setting),
    )


def _interim(arm: ArmEvidence, versus: ArmEvidence) -> tuple[Caveat, ...]:
    if not arm.missing and not versus.missing:
        return ()
    return (Caveat(CaveatKind.INTERIM, "Interim: runs are open."),)


def _answers(
    prediction: Prediction,
    criteria: Sequence[CriterionResult],
    doubts: Sequence[Doubt],
    *,
    is_refuted: bool,
) -> Answers:
    why = "; ".join(doubt.text for doubt in doubts)
    unclear = f"Not compared: {why}."
    if is_refuted:
        violations = violations_text(criteria)
        return Answers(
            headline=f'The prediction "{prediction}" failed: {violations}. Nothing else can be '
            f"said yet: {why}.",
            elimination=f"The prediction failed: {violations}.",
            direction=unclear,
            availability=unclear,
        )
    is_failed = any(result.state is CriterionState.FAILED for result in criteria)
    seen = f" Even so, {violations_text(criteria)}." if is_failed else ""
    opening = f'Nothing can be said of the prediction "{prediction}": {why}.{seen}'
    return Answers(opening, unclear, unclear, unclear)


def _repair(
    doubts: Sequence[Doubt], arm: ArmEvidence, versus: ArmEvidence, *, setting: ComparisonSetting
) -> Experiment:
    """Put the comparison itself right, and run what is missing."""
    sessions = max((run.counts.all for run in (*arm.done, *versus.done)), default=0)
    runs = arm.missing + versus.missing
    missing = {missing_text(each) for each in (arm, versus)}
    wrong = [doubt.text for doubt in doubts if doubt.text not in missing]
    open_runs = [
        f"{of_text(each.missing, each.blocks)} of {each.name}"
        for each in (arm, versus)
        if each.missing
    ]
    what = "the run that is missing" if runs == 1 else f"the {runs:,} runs that are missing"
    if not wrong:
        text = f"Run {what}: {', '.join(open_runs)}."
    else:
        rerun = f"; then run {what}: {', '.join(open_runs)}" if runs else ""
        text = f"Put right: {'; '.join(wrong)}{rerun}."
    return Experiment(
        kind=ExperimentKind.REPAIR_COMPARISON,
        text=text,
        cost=cost_of(runs, sessions=sessions, each=setting.each_run),
        runs_after=arm.missing,
        runs_before=versus.missing,
        sessions=sessions,
    )
