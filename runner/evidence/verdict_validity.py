"""Whether two arms may be compared at all: what must be right before any statistics."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from db.vocabulary import RunFlag
from runner.evidence.arm_evidence import ArmEvidence, RunEvidence
from runner.evidence.comparison_setting import ComparisonSetting
from runner.evidence.decision_rule import DecisionRule, Ending
from runner.evidence.launch_words import LAUNCH, Unit
from runner.evidence.number_words import of_text
from runner.evidence.silent_sessions import LaunchCounts
from runner.evidence.stopping import advice_at_look
from runner.evidence.verdict_decision import ReasonCode

MOST_OF_OURS = 0.05
"""Of an arm's sessions: what broke our own code may well have been corrupt."""


def too_many_are_ours(harness_errors: int, ended: int) -> bool:
    """Of a run or an arm: such sessions are in no rate, and what is left is another load."""
    return harness_errors > MOST_OF_OURS * ended


@dataclass(frozen=True, slots=True)
class Doubt:
    """One reason, and the sentence part that says it."""

    code: ReasonCode
    text: str


def invalidities(
    arm: ArmEvidence, versus: ArmEvidence, *, setting: ComparisonSetting
) -> tuple[Doubt, ...]:
    """What makes the evidence of either arm no evidence. Missing runs are not among it."""
    return tuple(_invalidities(arm, versus, setting))


def missing_runs(
    arm: ArmEvidence,
    versus: ArmEvidence,
    *,
    setting: ComparisonSetting,
    rule: DecisionRule,
    criterion_failed: bool = False,
) -> tuple[Doubt, ...]:
    """None where the stop rule left them undone, unless an arm has no session at all."""
    is_excused = setting.ended_by_rule and _may_be_over(
        arm, versus, setting, rule, criterion_failed=criterion_failed
    )
    return tuple(
        Doubt(ReasonCode.RUNS_MISSING, _why_missing(each))
        for each in (arm, versus)
        if (each.missing and not is_excused) or not has_sessions(each)
    )


def missing_text(arm: ArmEvidence) -> str:
    """`2 of 3 runs of bf16 missing`."""
    return f"{of_text(arm.missing, arm.blocks)} runs of {arm.name} missing"


def is_cut_short(run: RunEvidence, setting: ComparisonSetting) -> bool:
    """Whether it has fewer sessions than were planned, by the stop rule or at its wedge."""
    planned = setting.sessions_planned.get(run.label)
    return planned is not None and run.counts.all + run.counts.harness_errors < planned


def has_sessions(arm: ArmEvidence) -> bool:
    return any(run.counts.all for run in arm.done)


def launches_of(arm: ArmEvidence, *, setting: ComparisonSetting) -> tuple[LaunchCounts, ...]:
    """Counts by launch, in the order of the first run of each."""
    grouped: dict[str, list[RunEvidence]] = {}
    for run in arm.done:
        grouped.setdefault(setting.launch_of.get(run.label, f"run {run.label}"), []).append(run)
    return tuple(
        LaunchCounts(
            clean=sum(run.counts.not_corrupt for run in runs),
            corrupt=sum(run.counts.corrupt for run in runs),
            silent=sum(run.counts.silent for run in runs),
        )
        for runs in grouped.values()
    )


def unit_of_evidence(arm: ArmEvidence, versus: ArmEvidence, *, setting: ComparisonSetting) -> Unit:
    """A launch where runs of one arm share one, or where one served all runs of both: a further
    run would share it too.
    """
    runs = (*arm.done, *versus.done)
    launches = {setting.launch_of.get(run.label, f"run {run.label}") for run in runs}
    sizes = [
        ceil(len(each.done) / len(launches_of(each, setting=setting)))
        for each in (arm, versus)
        if each.done
    ]
    most = max(sizes, default=1)
    return Unit(LAUNCH, most) if most > 1 or len(launches) < min(2, len(runs)) else Unit()


def _may_be_over(
    arm: ArmEvidence,
    versus: ArmEvidence,
    setting: ComparisonSetting,
    rule: DecisionRule,
    *,
    criterion_failed: bool,
) -> bool:
    """Whether the rule would have left runs undone on this evidence.

    E-values may be read at any time, so that nothing need be excused there.
    """
    if rule.ending is Ending.DECIDED:
        return True
    if rule.ending is not Ending.TWO_LOOKS:
        return arm.counts.corrupt > 0
    advice = advice_at_look(
        launches_of(arm, setting=setting),
        launches_of(versus, setting=setting),
        rule=rule,
        wedges=arm.wedges if arm.wedges_are_known else None,
        criterion_failed=criterion_failed,
    )
    return advice is not None


def _invalidities(
    arm: ArmEvidence, versus: ArmEvidence, setting: ComparisonSetting
) -> Iterator[Doubt]:
    if setting.undeclared_differences:
        text = f"the arms also differ in {', '.join(setting.undeclared_differences)}"
        yield Doubt(ReasonCode.INVALID_DIFFERENCES, text)
    if setting.unverified:
        text = f"not verified: {', '.join(setting.unverified)}"
        yield Doubt(ReasonCode.INVALID_UNVERIFIED, text)
    for each in (arm, versus):
        saturated = _labels(each.flagged(RunFlag.CLIENT_SATURATED))
        if saturated:
            text = f"{each.name}: the client was too slow to measure ({saturated})"
            yield Doubt(ReasonCode.INVALID_SATURATED, text)
        unused = _labels(each.flagged(RunFlag.NOT_EXERCISED))
        if unused:
            text = f"{each.name}: a path that its levels switch was not seen in use ({unused})"
            yield Doubt(ReasonCode.INVALID_NOT_EXERCISED, text)
        ours, all_of_them = each.counts.harness_errors, each.counts.all + each.counts.harness_errors
        if too_many_are_ours(ours, all_of_them):
            text = f"{each.name}: {of_text(ours, all_of_them)} sessions failed by our own fault"
            yield Doubt(ReasonCode.INVALID_COUNTS, text)
        wrong = _labels(tuple(run for run in each.done if not _adds_up(run, setting)))
        if wrong:
            text = f"{each.name}: sessions planned and ended differ ({wrong})"
            yield Doubt(ReasonCode.INVALID_COUNTS, text)


def _adds_up(run: RunEvidence, setting: ComparisonSetting) -> bool:
    planned = setting.sessions_planned.get(run.label)
    ended = run.counts.all + run.counts.harness_errors
    if planned is None or ended == planned:
        return True
    return ended < planned and (setting.ended_by_rule or RunFlag.ENDED_AT_WEDGE in run.flags)


def _why_missing(arm: ArmEvidence) -> str:
    if arm.done and not has_sessions(arm):
        return f"no session of {arm.name} says anything of the server"
    return missing_text(arm)


def _labels(runs: tuple[RunEvidence, ...]) -> str:
    return ", ".join(run.label for run in runs)
