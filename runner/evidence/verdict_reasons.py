"""The reasons of a verdict: each code with the sentence that says it."""

from collections.abc import Sequence

from runner.campaign.prediction import CORRUPT
from runner.evidence.criteria import CriterionResult, CriterionState
from runner.evidence.verdict_decision import Decision, ReasonCode
from runner.evidence.verdict_validity import Doubt
from runner.evidence.verdict_words import Answers


def reasons_of(
    decision: Decision, criteria: Sequence[CriterionResult], answers: Answers
) -> tuple[Doubt, ...]:
    """Failed criteria first, one by one."""
    texts = {"elimination": answers.elimination, "direction": answers.direction}
    failed = [failed_reason(r) for r in criteria if r.state is CriterionState.FAILED]
    if ReasonCode.CRITERION_FAILED in decision.codes and not failed:
        failed = [Doubt(ReasonCode.CRITERION_FAILED, answers.elimination)]
    others = [
        Doubt(code, texts.get(code.split(":")[0], answers.availability))
        for code in decision.codes
        if code is not ReasonCode.CRITERION_FAILED
    ]
    return (*failed, *others)


def failed_reason(result: CriterionResult) -> Doubt:
    """`criterion corruption == 0 failed (5 seen)`."""
    criterion = result.criterion
    name = "corruption" if criterion.name == CORRUPT else criterion.name
    rule = f"{name} {criterion.comparison} {criterion.limit}"
    return Doubt(ReasonCode.CRITERION_FAILED, f"criterion {rule} failed ({result.seen} seen)")


def reason_codes(reasons: Sequence[Doubt]) -> frozenset[str]:
    """As recorded verdicts write them: codes, and each failed criterion with what was seen."""
    return frozenset(
        each.text if each.code is ReasonCode.CRITERION_FAILED else str(each.code)
        for each in reasons
    )
