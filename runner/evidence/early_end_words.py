"""What ending early left out of a comparison, and what that costs; decides nothing."""

from collections.abc import Iterator

from db.vocabulary import RunFlag
from runner.evidence.arm_evidence import ArmEvidence, RunEvidence
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.decision_rule import DecisionRule, Ending
from runner.evidence.number_words import of_text
from runner.evidence.verdict_validity import is_cut_short


def early_end_sentence(
    arm: ArmEvidence, versus: ArmEvidence, *, rule: DecisionRule, setting: ComparisonSetting
) -> str:
    """Empty where all that was planned was played, or where no rule left it out."""
    cut = [
        _cut_text(run, setting)
        for each in (arm, versus)
        for run in each.done
        if is_cut_short(run, setting)
    ]
    undone = list(_undone(arm, versus, rule=rule, setting=setting))
    if not cut and not undone:
        return ""
    costs = []
    if cut:
        costs.append("a run that was cut short gives no usable rate")
    if undone:
        costs.append("runs that were not made would have narrowed the limits")
    return f"Ended early: {'; '.join([*cut, *undone])}. The price: {', and '.join(costs)}."


def _cut_text(run: RunEvidence, setting: ComparisonSetting) -> str:
    ended = run.counts.all + run.counts.harness_errors
    where = "at its wedge" if RunFlag.ENDED_AT_WEDGE in run.flags else "by the stop rule"
    return f"{run.label} {where} after {of_text(ended, setting.sessions_planned[run.label])}"


def _undone(
    arm: ArmEvidence, versus: ArmEvidence, *, rule: DecisionRule, setting: ComparisonSetting
) -> Iterator[str]:
    if not setting.ended_by_rule or rule.ending not in (Ending.DECIDED, Ending.TWO_LOOKS):
        return
    for each in (arm, versus):
        if each.missing:
            yield f"{of_text(each.missing, each.blocks)} runs of {each.name} not made"
