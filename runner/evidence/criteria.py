"""Whether the criteria of a prediction failed on what was counted; knows no other arm."""

from dataclasses import dataclass
from enum import StrEnum

from db.vocabulary import Outcome, OutcomeClass
from runner.campaign.prediction import CORRUPT, SILENT, WEDGES, Criterion, Prediction
from runner.evidence.arm_evidence import ArmEvidence


class CriterionState(StrEnum):
    """`not_failed` is no success: what was not seen may still come."""

    FAILED = "failed"
    NOT_FAILED = "not_failed"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True)
class CriterionResult:
    """`seen` is None where nobody counted."""

    criterion: Criterion
    state: CriterionState
    seen: int | None


def check_criteria(prediction: Prediction, arm: ArmEvidence) -> tuple[CriterionResult, ...]:
    return tuple(_checked(criterion, arm) for criterion in prediction.criteria)


def _checked(criterion: Criterion, arm: ArmEvidence) -> CriterionResult:
    seen, witnessed = _seen(criterion, arm), _witnessed(criterion, arm)
    if witnessed is not None and criterion.is_exceeded_by(witnessed):
        return CriterionResult(criterion, CriterionState.FAILED, witnessed)
    if not _is_counted(criterion, arm):
        return CriterionResult(criterion, CriterionState.UNCHECKED, seen)
    is_final = arm.missing == 0 and arm.counts.silent == 0
    if seen is not None and is_final and criterion.is_unreached_by(seen):
        return CriterionResult(criterion, CriterionState.FAILED, seen)
    return CriterionResult(criterion, CriterionState.NOT_FAILED, seen)


def _seen(criterion: Criterion, arm: ArmEvidence) -> int | None:
    if not arm.done:
        return None
    if criterion.name == WEDGES:
        return arm.wedges
    if criterion.name == CORRUPT:
        return arm.counts.corrupt
    if criterion.name == SILENT:
        return arm.counts.silent
    return arm.counts[Outcome(criterion.name)]


def _witnessed(criterion: Criterion, arm: ArmEvidence) -> int | None:
    """Also in runs that were cut off. Sessions that fell silent there may have by the cut."""
    if criterion.name == WEDGES:
        seen = [run.wedges for run in arm.witnessed if run.wedges is not None]
        return sum(seen) if seen else None
    if not arm.witnessed:
        return None
    if criterion.name == CORRUPT:
        return arm.witnessed_counts.corrupt
    if criterion.name != SILENT:
        outcome = Outcome(criterion.name)
        if outcome.outcome_class is OutcomeClass.CORRUPT:
            return arm.witnessed_counts[outcome]
    return _seen(criterion, arm)


def _is_counted(criterion: Criterion, arm: ArmEvidence) -> bool:
    return arm.wedges_are_known if criterion.name == WEDGES else bool(arm.done)
