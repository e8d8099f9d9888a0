"""What the runs of two arms say about a hypothesis: refuted where a criterion failed, else nothing.

This first method compares no rates. It confirms nothing and finds no arm better or worse than the
other: such a claim needs the run as its unit and a floor for the correlation inside a run.
"""

from dataclasses import dataclass
from typing import Any

from db.vocabulary import Availability, Direction, Elimination, Headline
from runner.campaign.prediction import Prediction
from runner.evidence.arm_evidence import ArmEvidence
from runner.evidence.criteria import CriterionResult, CriterionState, check_criteria
from runner.evidence.verdict_reasons import Reason, reasons_of
from runner.evidence.verdict_sentence import sentence_of

METHOD = "criteria 1"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Three answers, the headline that follows, and why. `sentence` claims no more than they."""

    headline: Headline
    elimination: Elimination
    direction: Direction
    availability: Availability
    sentence: str
    reasons: tuple[Reason, ...]
    criteria: tuple[CriterionResult, ...]
    inputs: dict[str, Any]  # the counts it was made from, as JSON
    method: str = METHOD


def reach_verdict(
    prediction: Prediction, *, arm: ArmEvidence, versus: ArmEvidence, tolerate: float
) -> Verdict:
    """`tolerate` is only recorded: this method confirms nothing, so it has no limit to keep."""
    criteria = check_criteria(prediction, arm)
    is_refuted = any(result.state is CriterionState.FAILED for result in criteria)
    return Verdict(
        headline=Headline.REFUTED if is_refuted else Headline.INCONCLUSIVE,
        elimination=Elimination.REFUTED if is_refuted else Elimination.INCONCLUSIVE,
        direction=Direction.UNCLEAR,
        availability=Availability.NOT_SHOWN_WORSE,
        sentence=sentence_of(prediction, criteria, arm=arm, versus=versus),
        reasons=reasons_of(criteria, arm=arm, versus=versus),
        criteria=criteria,
        inputs={
            "predict": str(prediction),
            "tolerate": tolerate,
            "arm": _inputs_of(arm),
            "versus": _inputs_of(versus),
        },
    )


def _inputs_of(arm: ArmEvidence) -> dict[str, Any]:
    return {
        "name": arm.name,
        "blocks": arm.blocks,
        "runs": [
            {
                "run": run.label,
                "block": run.block,
                "state": str(run.state),
                "counts": {str(outcome): n for outcome, n in run.counts.by_outcome.items() if n},
                "corrupt": run.counts.corrupt,
                "evidence": run.counts.gave_evidence,
                "wedges": run.wedges,
                "wedge_requests": run.wedge_requests,
                "wedge_lines": run.wedge_lines,
            }
            for run in arm.runs
        ],
    }
