"""The words of a verdict: what was predicted, what was counted, and what is not claimed."""

from collections.abc import Sequence

from runner.campaign.prediction import CORRUPT, Prediction
from runner.evidence.arm_evidence import ArmEvidence
from runner.evidence.criteria import CriterionResult, CriterionState
from runner.evidence.verdict_reasons import has_uncounted_wedges, unchecked_wedges_text
from runner.evidence.wording import percent_text


def sentence_of(
    prediction: Prediction,
    criteria: Sequence[CriterionResult],
    *,
    arm: ArmEvidence,
    versus: ArmEvidence,
) -> str:
    failed = [result for result in criteria if result.state is CriterionState.FAILED]
    unchecked = [
        f"{unchecked_wedges_text(result, arm)}."
        for result in criteria
        if has_uncounted_wedges(result, arm)
    ]
    opening = _refuted(prediction, failed) if failed else _undecided(prediction, arm)
    counted = [f"{_counted(arm)}.", f"Compared with: {_counted(versus)}."]
    return " ".join([opening, *unchecked, *counted, _not_claimed(failed)])


def _refuted(prediction: Prediction, failed: Sequence[CriterionResult]) -> str:
    seen = " and ".join(f"{result.seen:,} {result.criterion.name}" for result in failed)
    return f'The prediction "{prediction}" failed: {seen} seen.'


def _undecided(prediction: Prediction, arm: ArmEvidence) -> str:
    if not arm.done:
        return f'Nothing can be said of the prediction "{prediction}": no run is done.'
    return f'No failure of the prediction "{prediction}" was seen, which does not confirm it.'


def _counted(arm: ArmEvidence) -> str:
    """All three denominators of one arm."""
    counts, bounds, runs = arm.counts, arm.counts.bounds, len(arm.done)
    where = f"{arm.name}, {runs} of {arm.blocks} runs"
    if bounds is None:
        return f"{where}: no sessions"
    text = (
        f"{where}: {counts.corrupt:,} of {counts.all:,} sessions corrupt, "
        f"{counts.corrupt:,} of the {counts.gave_evidence:,} that gave evidence"
    )
    if not counts.silent:
        return f"{text}, none silent"
    low, high = percent_text(bounds.low), percent_text(bounds.high)
    silent = f"as the {counts.silent:,} silent sessions were all clean or all corrupt"
    return f"{text}; the rate lies between {low} and {high}, {silent}"


def _not_claimed(failed: Sequence[CriterionResult]) -> str:
    names = {result.criterion.name for result in failed}
    if CORRUPT in names or not names:
        return "Whether corruption is rarer or more frequent than in the other arm is not claimed."
    return "Nothing else is claimed."
