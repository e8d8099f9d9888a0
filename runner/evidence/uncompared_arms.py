"""What is said where two arms cannot be compared: why, and at most that a criterion failed."""

from collections.abc import Sequence
from dataclasses import dataclass

from runner.campaign.prediction import Prediction
from runner.evidence.arm_evidence import ArmEvidence
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.criteria import CriterionResult, CriterionState
from runner.evidence.next_experiment import Experiment, ExperimentKind
from runner.evidence.number_words import counted_text
from runner.evidence.run_cost import cost_of
from runner.evidence.verdict_caveats import Caveat, CaveatKind
from runner.evidence.verdict_decision import ReasonCode
from runner.evidence.verdict_reasons import failed_reason
from runner.evidence.verdict_validity import Doubt
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
    sizes = [run.counts.all for run in (*arm.done, *versus.done)]
    return Uncompared(
        is_refuted=is_refuted,
        answers=_answers(prediction, criteria, doubts, is_refuted=is_refuted),
        reasons=(*(failed_reason(result) for result in failed if is_refuted), *doubts),
        caveats=_interim(arm, versus) if is_interim else (),
        experiment=_repair(
            [doubt.text for doubt in doubts],
            missing_after=arm.missing,
            missing_before=versus.missing,
            sessions=max(sizes, default=0),
            setting=setting,
        ),
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
    doubts: Sequence[str],
    *,
    missing_after: int,
    missing_before: int,
    sessions: int,
    setting: ComparisonSetting,
) -> Experiment:
    """Where the comparison itself does not hold: put it right and run what is missing."""
    runs = missing_after + missing_before
    verb = "is" if runs == 1 else "are"
    rerun = f", then run the {counted_text(runs, 'run')} that {verb} missing" if runs else ""
    return Experiment(
        kind=ExperimentKind.REPAIR_COMPARISON,
        text=f"Put right: {'; '.join(doubts)}{rerun}.",
        cost=cost_of(runs, sessions=sessions, each=setting.each_run),
        runs_after=missing_after,
        runs_before=missing_before,
        sessions=sessions,
    )
